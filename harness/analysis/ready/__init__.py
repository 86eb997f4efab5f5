"""Whether a cluster, its links and its measurements are ready: doctor, ready, gate, limits of CI."""
