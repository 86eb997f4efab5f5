"""A cluster in containers on this machine, with links of the rate and MTU that you choose."""
