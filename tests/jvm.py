"""Java for tests: a process that lives for seconds ends before its second compiler has paid off."""

COLD_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData"
