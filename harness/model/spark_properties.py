"""The part of Spark's configuration that is recorded: values that explain times, digests of all others.

A configuration may contain anything, from file names to passwords, and results get published. So a value is
recorded only if its property is listed here, with a reason, and if it looks as such a value does: a number
with a unit, a word, the name of a class. Every other property is recorded by its name and a digest, so that a
comparison still shows that two values differ.
"""

from __future__ import annotations  # for Python 3.8

import re
import shlex
from collections.abc import Collection, Mapping

from harness.base.redaction import HIDDEN, SENSITIVE_NAME, digest

_KNOWN = {
    "how many processors and how much memory the application gets": """
        spark.cores.max spark.default.parallelism spark.driver.cores spark.driver.maxResultSize
        spark.driver.memory spark.driver.memoryOverhead spark.driver.memoryOverheadFactor
        spark.dynamicAllocation.enabled spark.dynamicAllocation.initialExecutors
        spark.dynamicAllocation.maxExecutors spark.dynamicAllocation.minExecutors
        spark.dynamicAllocation.shuffleTracking.enabled spark.executor.cores spark.executor.instances
        spark.executor.memory spark.executor.memoryOverhead spark.executor.memoryOverheadFactor
        spark.executor.pyspark.memory spark.memory.fraction spark.memory.offHeap.enabled
        spark.memory.offHeap.size spark.memory.storageFraction spark.python.worker.memory
        spark.python.worker.reuse spark.task.cpus spark.yarn.am.cores spark.yarn.am.memory""",
    "how a shuffle writes, compresses and fetches its blocks": """
        spark.authenticate spark.broadcast.blockSize spark.broadcast.compress spark.checkpoint.compress
        spark.io.compression.codec spark.io.compression.lz4.blockSize spark.io.compression.zstd.bufferSize
        spark.io.compression.zstd.level spark.io.encryption.enabled
        spark.maxRemoteBlockSizeFetchToMem
        spark.network.crypto.enabled spark.network.timeout spark.reducer.maxBlocksInFlightPerAddress
        spark.reducer.maxReqsInFlight spark.reducer.maxSizeInFlight spark.rpc.io.numConnectionsPerPeer
        spark.rpc.message.maxSize spark.shuffle.compress spark.shuffle.file.buffer
        spark.shuffle.io.backLog spark.shuffle.io.clientThreads spark.shuffle.io.mode
        spark.shuffle.io.numConnectionsPerPeer spark.shuffle.io.preferDirectBufs
        spark.shuffle.io.serverThreads spark.shuffle.localDisk.file.output.buffer spark.shuffle.manager
        spark.shuffle.push.enabled spark.shuffle.readHostLocalDisk spark.shuffle.service.enabled
        spark.shuffle.sort.bypassMergeThreshold spark.shuffle.sort.io.plugin.class
        spark.shuffle.spill.compress
        spark.shuffle.unsafe.file.output.buffer spark.storage.memoryMapThreshold""",
    "how a query is planned and executed": """
        spark.sql.adaptive.advisoryPartitionSizeInBytes spark.sql.adaptive.autoBroadcastJoinThreshold
        spark.sql.adaptive.coalescePartitions.enabled
        spark.sql.adaptive.coalescePartitions.initialPartitionNum
        spark.sql.adaptive.coalescePartitions.minPartitionSize
        spark.sql.adaptive.coalescePartitions.parallelismFirst spark.sql.adaptive.enabled
        spark.sql.adaptive.localShuffleReader.enabled spark.sql.adaptive.skewJoin.enabled
        spark.sql.ansi.enabled spark.sql.artifact.isolation.enabled spark.sql.autoBroadcastJoinThreshold
        spark.sql.broadcastTimeout spark.sql.cbo.enabled spark.sql.codegen.cache.maxEntries
        spark.sql.codegen.factoryMode
        spark.sql.codegen.maxFields spark.sql.codegen.wholeStage spark.sql.columnVector.offheap.enabled
        spark.sql.csv.filterPushdown.enabled spark.sql.csv.parser.columnPruning.enabled
        spark.sql.execution.arrow.maxRecordsPerBatch spark.sql.execution.arrow.pyspark.enabled
        spark.sql.files.maxPartitionBytes spark.sql.files.minPartitionNum
        spark.sql.files.openCostInBytes spark.sql.inMemoryColumnarStorage.batchSize
        spark.sql.inMemoryColumnarStorage.compressed spark.sql.join.preferSortMergeJoin
        spark.sql.parquet.columnarReaderBatchSize spark.sql.parquet.compression.codec
        spark.sql.parquet.enableVectorizedReader spark.sql.parquet.filterPushdown
        spark.sql.shuffle.partitions""",
    "how objects are serialized": """
        spark.kryo.referenceTracking spark.kryo.unsafe spark.kryoserializer.buffer
        spark.kryoserializer.buffer.max spark.rdd.compress spark.serializer
        spark.serializer.objectStreamReset""",
    "when and where tasks run": """
        spark.excludeOnFailure.enabled spark.locality.wait spark.locality.wait.node
        spark.locality.wait.process spark.locality.wait.rack spark.scheduler.mode
        spark.scheduler.minRegisteredResourcesRatio spark.speculation spark.speculation.interval
        spark.speculation.multiplier spark.speculation.quantile spark.submit.deployMode
        spark.task.maxFailures""",
    "what else works beside the trials": """
        spark.cleaner.periodicGC.interval spark.eventLog.compress spark.eventLog.enabled
        spark.executor.heartbeatInterval spark.executor.processTreeMetrics.enabled spark.log.level
        spark.ui.enabled spark.ui.showConsoleProgress""",
    "what a pod of Kubernetes gets": """
        spark.kubernetes.allocation.batch.size spark.kubernetes.driver.limit.cores
        spark.kubernetes.driver.request.cores spark.kubernetes.executor.limit.cores
        spark.kubernetes.executor.request.cores spark.kubernetes.local.dirs.tmpfs
        spark.kubernetes.memoryOverheadFactor""",
    "how files are stored and read": """
        spark.hadoop.dfs.blocksize spark.hadoop.dfs.client.read.shortcircuit
        spark.hadoop.dfs.client.use.datanode.hostname spark.hadoop.dfs.replication
        spark.hadoop.fs.AbstractFileSystem.qfs.impl spark.hadoop.fs.qfs.createParams
        spark.hadoop.fs.qfs.impl spark.hadoop.io.file.buffer.size
        spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version
        spark.hadoop.parquet.hadoop.vectored.io.enabled""",
}
"""The properties whose values are recorded, by the reason."""

KNOWN = frozenset(name for names in _KNOWN.values() for name in names.split())

S3A = "fs.s3a."
S3A_OWN = "clusterlift.s3a."
S3A_STORE = f"{S3A_OWN}store"
S3A_CEPH_CONF = f"{S3A_OWN}ceph.conf"
"""Properties of ours: which server is behind S3A, and Ceph's configuration file. Like S3A's properties, they
may be set for one bucket: `clusterlift.s3a.bucket.NAME.store`."""
_S3A_READS_BY = """
    attempts.maximum block.size checksum.generation checksum.validation connection.establish.timeout
    connection.expect.continue connection.maximum connection.ssl.enabled connection.timeout connection.ttl
    create.storage.class endpoint.region executor.capacity experimental.input.fadvise
    input.async.drain.threshold input.stream.type list.version multipart.size paging.maximum
    path.style.access prefetch.block.count prefetch.block.size prefetch.enabled readahead.range retry.interval
    retry.limit retry.throttle.interval retry.throttle.limit socket.recv.buffer socket.send.buffer
    ssl.channel.mode threads.keepalivetime threads.max vectored.active.ranged.reads
    vectored.read.max.merged.size vectored.read.min.seek.size"""
S3A_READS_BY = frozenset(f"{S3A}{name}" for name in _S3A_READS_BY.split())
"""Of Hadoop's S3A: how it connects and reads."""

_OZONE_READS_BY = """
    ozone.client.checksum.type ozone.client.bytes.per.checksum ozone.client.verify.checksum
    ozone.client.ec.reconstruct.stripe.read.pool.limit ozone.client.follower.read.enabled
    ozone.client.read.max.retries ozone.client.read.retry.interval ozone.client.read.timeout
    ozone.client.stream.read.pre-read-size ozone.client.stream.read.response-data-size
    ozone.client.stream.readblock.enable ozone.network.topology.aware.read
    scm.container.client.idle.threshold scm.container.client.max.size"""
OZONE_READS_BY = frozenset(_OZONE_READS_BY.split())
"""Of Ozone's client: how it connects and reads."""

_NUMBER = re.compile(r"true|false|-?\d{1,20}(\.\d{1,20})?\s?[A-Za-z%]{0,5}", re.IGNORECASE)
_WORD = re.compile(r"[\w.$,-]{1,120}")
_TAKES_A_WORD = re.compile(
    r".*\.(class|codec|createParams|deployMode|factoryMode|impl|level|manager|mode|serializer)"
)
_TAKES_AN_IMAGE = re.compile(r"spark\.kubernetes\.(?:(?:driver|executor)\.)?container\.image")
_IMAGE = re.compile(
    r"(?P<site>(?:[\w.:-]{1,200}/)*)(?P<name>[\w.-]{1,100}(?::[\w.-]{1,128})?)(?P<rest>@[\w:]{1,100})?"
)
_GENERATED = {
    "a UUID": r"[0-9a-f]{8}(?:[-_]?[0-9a-f]{4}){3}[-_]?[0-9a-f]{12}",
    "an application, or its driver": (
        r"(?:application|job|container|driver|app)[-_]\d{8,14}[-_]\d{4,9}(?:_\d+)*"
    ),
    "a local application": r"local-\d{13}",
    "what Spark makes unique on Kubernetes": r"[0-9a-f]{16}",
    "a moment in milliseconds": r"1[4-9]\d{11}",
    "a token": r"eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*",
}
"""What is generated for each application anew, by what it is."""
_GENERATED_PART = re.compile(rf"(?<![0-9A-Za-z])(?:{'|'.join(_GENERATED.values())})(?![0-9A-Za-z])")
JAVA_OPTIONS = re.compile(r"spark\.(driver|executor)\.(extra|default)JavaOptions")
_KNOWN_JAVA_OPTION = re.compile(
    r"-X(ms|mx|mn|ss)\d+[kmgtKMGT]?|-XX:[+-]\w+|-XX:\w+=\d+[kmgtKMGT%]?"
    r"|--(add-(modules|opens|exports|reads)|enable-native-access|sun-misc-unsafe-memory-access)=[\w./,=-]+"
    r"|-D(java\.net\.prefer|jdk\.|io\.netty\.|sun\.|file\.encoding|user\.timezone)[\w.]*="
    r"(true|false|\d{1,6}|UTF-?8|UTC)"
)
_OPTION_NAME = re.compile(r"-D[\w.-]+=?|-XX:\w+=?|--?[A-Za-z][\w-]*[:=]?")


def recorded_s3a(in_force: Mapping[str, str], chosen: Collection[str]) -> dict[str, str]:
    """Return what is recorded of the properties of S3A that are in force for a bucket, sorted by name.

    Properties that affect reading keep their values. Others that were `chosen` become digests, unless their
    name announces a secret.
    """
    recorded = {}
    for name, value in sorted(in_force.items()):
        if name in S3A_READS_BY and _WORD.fullmatch(value):
            recorded[name] = value
        elif name in chosen and not (SENSITIVE_NAME.search(name) or name == f"{S3A}endpoint"):
            recorded[name] = digest(value)
    return recorded


def recorded_ozone(in_force: Mapping[str, str | None]) -> dict[str, str]:
    """Return what is recorded of the properties of Ozone's client that are in force, sorted by name."""
    known = {name: in_force.get(name) for name in sorted(OZONE_READS_BY)}
    return {name: value for name, value in known.items() if value and _WORD.fullmatch(value)}


def recorded_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """Return what is recorded of each property, sorted by name: its value or a digest of it."""
    return {name: _recorded(name, value) for name, value in sorted(properties.items())}


def _recorded(name: str, value: str) -> str:
    if name == "spark.authenticate.secret":
        return HIDDEN  # each start of a cluster may have another, which explains no time
    if JAVA_OPTIONS.fullmatch(name):
        return _recorded_java_options(value)
    if _TAKES_AN_IMAGE.fullmatch(name):
        return _recorded_image(value)
    form = _WORD if _TAKES_A_WORD.fullmatch(name) else _NUMBER
    if name in KNOWN and form.fullmatch(value):
        return value
    # A path with a UUID differs in each application, and explains no time.
    return digest(_GENERATED_PART.sub("*", value))


def _recorded_image(value: str) -> str:
    """Return the last name of an image, with a digest of the whole if a registry or a hash is named, too."""
    image = _IMAGE.fullmatch(value)
    if not image:
        return digest(value)
    if image["name"] == value:
        return value
    return f"{image['name']} ({digest(value)})"


def _recorded_java_options(text: str) -> str:
    """Return the options of a JVM. An unknown one becomes its name and a digest."""
    try:
        options = shlex.split(text)
    except ValueError:  # a quotation mark is not closed
        return digest(text)
    return " ".join(map(_recorded_java_option, options))


def _recorded_java_option(option: str) -> str:
    if _KNOWN_JAVA_OPTION.fullmatch(option):
        return option
    name = _OPTION_NAME.match(option)
    return f"{name[0] if name else ''}{digest(option)}"
