"""Small, real file systems on this machine: each daemon a process of its own, on 127.0.0.1."""
