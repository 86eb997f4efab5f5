"""Commands on other hosts; `transports` has the ways to reach one."""
