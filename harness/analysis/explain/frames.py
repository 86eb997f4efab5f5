"""What a task does, by the frames of its stack: a table of rules that people can read and extend.

A stack is read from its innermost frame outwards. The first frame that a rule knows names the class. The
search ends at a frame that asks for a row (`next`, `hasNext` and others): the frames outside of it wait for
the row, and do not say how it is made. A stack that no rule knows is named by its innermost frame that is no
library's, so that nothing unknown hides in a class.

To add a rule, add a line. The rules are tried in their order, for one frame after the other.
"""

import re
from functools import lru_cache

from harness.model.profile import Stack
from harness.node.stacks import KERNEL, LIBRARIES, WORKER_RUNS, WORKER_WAITS

PYTHON_RUNS = "running Python code"
PYTHON_WAIT = "waiting for a Python worker"
SHUFFLE_WAIT = "waiting for shuffle blocks"
WRITING_SHUFFLE = "writing shuffle files"

RULES: tuple[tuple[str, str], ...] = (
    # class, and a regular expression for `package.Class.method`
    (PYTHON_RUNS, re.escape(WORKER_RUNS)),
    (PYTHON_WAIT, r"\.(api|execution)\.python\.|razorvine\.pickle|ArrowPython"),
    ("decompression", r"Decompress|Inflater|GZIPInputStream|LZ4_decompress"),
    ("decompression", r"(LZ4|Zstd|Snappy)\w*InputStream"),
    (
        "compression",
        r"\bcompress|Compressor|Deflater|LZ4_compress|(LZ4|Zstd|Snappy)\w*OutputStream",
    ),
    ("decoding erasure codes", r"(hadoop\.io|apache\.ozone)\.erasurecode"),
    ("reading from HDFS: waiting for stripes", r"StripedBlockUtil\.getNextCompleted|StripeReader"),
    ("reading from HDFS: through a DataNode", r"BlockReaderRemote|datatransfer\.PacketReceiver"),
    ("reading from HDFS: files of this node", r"BlockReaderLocal|shortcircuit"),
    ("writing to HDFS", r"DFS(Striped)?OutputStream|hdfs\.DataStreamer"),
    ("reading from HDFS: other", r"DFS(Striped)?InputStream|hdfs\.(DFSClient|protocolPB|client)"),
    ("reading from QFS", r"quantcast\.qfs\.\w+\.\w*Input|\.kfs_(read|seek|open)"),
    ("writing to QFS", r"quantcast\.qfs\.\w+\.\w*Output|\.kfs_(write|close)"),
    ("asking QFS for files", r"quantcast\.qfs"),
    ("reading from Ozone", r"hadoop\.(ozone\.client|hdds\.scm|fs\.ozone)\.[\w.]*Input"),
    ("writing to Ozone", r"hadoop\.(ozone\.client|hdds\.scm|fs\.ozone)\.[\w.]*Output"),
    ("asking Ozone for files", r"hadoop\.(ozone\.(client|om)|fs\.ozone)\."),
    ("reading from S3", r"fs\.s3a\.|analyticsaccelerator|awssdk"),
    ("reading from a local disk", r"RawLocalFileSystem|LocalFSFileInput|ChecksumFileSystem"),
    ("reading from a local disk", r"fs\.FSInputChecker"),
    ("asking the file system", r"hadoop\.fs\.(FileSystem|FileContext)\b"),
    (
        "waiting for the driver or a block of another node",
        r"BlockTransferService|RpcEndpointRef\.ask",
    ),
    (SHUFFLE_WAIT, r"ShuffleBlockFetcherIterator\.(next|fetch)"),
    ("reading shuffle blocks", r"BufferReleasingInputStream|FileSegmentManagedBuffer"),
    ("reading shuffle blocks", r"ShuffleBlockFetcher|BlockStoreShuffleReader"),
    ("spilling to disk", r"\.spill|UnsafeSorterSpill|Spillable|SpillReader|SpillWriter"),
    (WRITING_SHUFFLE, r"DiskBlockObjectWriter|writeSortedFile|IndexShuffleBlockResolver"),
    (
        WRITING_SHUFFLE,
        r"ShuffleMapOutputWriter|UnsafeShuffleWriter\.(close|merge|insertRecord|open)",
    ),
    (WRITING_SHUFFLE, r"BypassMergeSortShuffleWriter\.(write|stop)"),
    ("hashing", r"security\.(provider\.\w*(SHA|MD)|MessageDigest)|ByteArrayAccess|codec\.digest"),
    ("hashing", r"Murmur3|XXH64|JavaUtils\.digestToHexString"),
    ("sorting", r"UnsafeInMemorySorter|UnsafeExternal(Row)?Sorter|ShuffleInMemorySorter"),
    ("sorting", r"TimSort|RadixSort"),
    ("reading CSV", r"univocity|catalyst\.csv|datasources\.csv"),
    ("reading Parquet", r"org\.apache\.parquet|datasources\.parquet"),
    ("splitting lines", r"LineRecordReader|LineReader|HadoopFileLinesReader|SplitLine"),
    ("serialization", r"UnsafeRowSerializer|spark\.serializer\.|UnsafeRow\.writeToStream"),
    ("serialization", r"Object(Out|In)putStream|esotericsoftware"),
    ("hash aggregation", r"unsafe\.map\.|UnsafeFixedWidthAggregation|(Hash|Object)Aggregat"),
    ("joining", r"execution\.joins\."),
    ("waiting for memory", r"spark\.memory\."),
    ("cached blocks", r"storage\.memory\.|storage\.BlockManager\.|execution\.columnar\."),
    ("fetching broadcasts", r"TorrentBroadcast|spark\.broadcast"),
    ("compiling code", r"codegen\.CodeGenerator|codehaus\.(janino|commons)"),
    ("loading classes", r"java\.lang\.ClassLoader|ExecutorClassLoader|internal\.loader"),
    ("computing: generated code", r"GeneratedClass|GeneratedIterator|SpecificUnsafeProjection"),
    ("computing: generated code", r"catalyst\.expressions\.codegen"),
    ("computing: expressions", r"catalyst\.expressions\.|spark\.unsafe\.types"),
    ("computing: aggregation", r"execution\.aggregate\."),
    ("shuffling: partitioning rows", r"ShuffleExchangeExec|UnsafeShuffleWriter|SortShuffle"),
    ("shuffling: partitioning rows", r"ShuffleExternalSorter"),
    (
        "passing rows on and counting them",
        r"InterruptibleIterator|CompletionIterator|WritingSparkTask",
    ),
    ("passing rows on and counting them", r"datasources\.(FileScanRDD|RecordReaderIterator)"),
    ("passing rows on and counting them", r"AggregatingAccumulator|CollectMetrics"),
    ("beginning and ending tasks", r"executor\.Executor|TaskContext|scheduler\.Task\b|TaskMetrics"),
    ("beginning and ending tasks", r"AccumulatorV2|util\.Utils\$\.tryWith"),
)
"""Names of classes with what their frames look like."""

NETWORK = frozenset(
    {
        SHUFFLE_WAIT,
        "fetching broadcasts",
        "waiting for the driver or a block of another node",
        "asking the file system",
        "asking QFS for files",
        "asking Ozone for files",
        "reading from HDFS: waiting for stripes",
        "reading from HDFS: through a DataNode",
        "reading from HDFS: other",
        "reading from QFS",
        "reading from Ozone",
        "reading from S3",
        "writing to HDFS",
        "writing to QFS",
        "writing to Ozone",
    }
)
"""Classes in which a thread that does not run may wait for another node, or for a server on its own node."""
DISK = frozenset(
    {
        "reading from a local disk",
        "reading from HDFS: files of this node",
        "reading shuffle blocks",
        WRITING_SHUFFLE,
        "spilling to disk",
    }
)
"""Classes in which it may wait for a disk of its node."""

_ROW_IS_ASKED_FOR = re.compile(
    r"\.(next|hasNext|processNext|advanceNext|getNext|nextKeyValue|compute|runTask)$"
)
_COMPILED = tuple((name, re.compile(regex)) for name, regex in RULES)


def class_of(stack: Stack) -> str | None:
    """Return the class of what a task does at a stack; None if no rule knows it."""
    for frame in reversed(stack):
        if (found := _class_of_frame(frame)) is not None:
            return found
        if _ROW_IS_ASKED_FOR.search(frame) and not frame.startswith(_NOBODYS):
            return None
    return None


_NOBODYS = (*LIBRARIES, KERNEL, WORKER_RUNS, WORKER_WAITS)
"""Frames that name nobody's work: iterators of libraries wrap those of others."""


_LAMBDA = "$anonfun$"
"""Scala names a function inside of a method `Iterator.$anonfun$next$1`; it does what `Iterator.next` does."""


@lru_cache(maxsize=100_000)
def _class_of_frame(frame: str) -> str | None:
    method = frame.replace(_LAMBDA, "")
    return next((name for name, regex in _COMPILED if regex.search(method)), None)


def own_frame(stack: Stack) -> str:
    """Return what a stack without a class is called: its innermost frame that is no library's."""
    own = [frame for frame in stack if not frame.startswith(_NOBODYS)]
    return (own or stack or ("no frame",))[-1]
