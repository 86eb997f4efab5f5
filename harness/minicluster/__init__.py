"""HDFS, QFS, Ceph, MinIO or YARN on this machine: real daemons that listen on 127.0.0.1 only."""
