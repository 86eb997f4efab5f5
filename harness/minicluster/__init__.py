"""HDFS, QFS or Ceph on this machine: real daemons that listen on 127.0.0.1 only."""
