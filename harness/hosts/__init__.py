"""Commands on other hosts, and which hosts can be used. `transports` has the ways to reach one."""
