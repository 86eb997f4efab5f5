"""Small real file systems on this machine: each daemon is a process on 127.0.0.1."""
