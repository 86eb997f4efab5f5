"""Tests that start processes and open sockets on this machine."""
