"""Java for tests: a process that lives for seconds ends before its second compiler has paid off."""

from pathlib import Path

CLASSES = Path(__file__).parents[1] / ".cache/spark-classes.jsa"
"""Spark's classes as a JVM has them in memory: `make classes` writes it. Without it, tests take longer."""

COLD_JVM = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData"
    " -XX:ReservedCodeCacheSize=240m"  # as with both compilers: what is compiled is not thrown away
    " -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"  # of Spark's and Hadoop's jars
)
"""The options of a JVM with any class path."""

# Who has another class path than Spark's cannot use the file, and would say so.
COLD_SPARK = (
    f"{COLD_JVM} -XX:SharedArchiveFile={CLASSES} -Xlog:cds*=off" if CLASSES.exists() else COLD_JVM
)
"""The options of a JVM with Spark's class path."""
