"""What a task does, by the frames of its stack: a table of rules that people can read and extend.

A stack is read from its innermost frame outwards. The first frame that a rule knows names the class. The
search ends at a frame that asks for a row (`next`, `hasNext` and others): the frames outside of it wait for
the row, and do not say how it is made. A stack that no rule knows is named by its innermost frame that is not
of a library, so that nothing unknown hides in a class.

To add a rule, add a line. The rules are tried in their order, for one frame after the other.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from harness.model.profile import Profile
from harness.node.stacks import KERNEL, LIBRARIES, WORKER_RUNS, WORKER_WAITS

PYTHON_RUNS = "running Python code"
PYTHON_WAIT = "waiting for a Python worker"
NETWORK, DISK = "network", "disk"

RULES: tuple[tuple[str, str | None, str], ...] = (
    # class, what a thread waits for that does not run there, and a regular expression for
    # `package.Class.method`
    (PYTHON_RUNS, None, re.escape(WORKER_RUNS)),
    (PYTHON_WAIT, None, r"\.(api|execution)\.python\.|razorvine\.pickle|ArrowPython"),
    ("decompression", None, r"Decompress|Inflater|GZIPInputStream|LZ4_decompress"),
    ("decompression", None, r"(LZ4|Zstd|Snappy)\w*InputStream"),
    ("compression", None, r"\bcompress|Compressor"),
    ("compression", None, r"Deflater|LZ4_compress|(LZ4|Zstd|Snappy)\w*OutputStream"),
    ("decoding erasure codes", None, r"(hadoop\.io|apache\.ozone)\.erasurecode[\w.$]*Decod"),
    ("encoding erasure codes", None, r"(hadoop\.io|apache\.ozone)\.erasurecode[\w.$]*Encod"),
    ("reading from HDFS: waiting for stripes", NETWORK, r"StripedBlockUtil\.getNextCompleted"),
    ("reading from HDFS: waiting for stripes", NETWORK, r"StripeReader"),
    ("reading from HDFS: through a DataNode", NETWORK, r"BlockReaderRemote"),
    ("reading from HDFS: through a DataNode", NETWORK, r"datatransfer\.PacketReceiver"),
    ("reading from HDFS: files of this node", DISK, r"BlockReaderLocal|shortcircuit"),
    ("writing to HDFS", NETWORK, r"DFS(Striped)?OutputStream|hdfs\.DataStreamer"),
    ("reading from HDFS: other", NETWORK, r"DFS(Striped)?InputStream"),
    ("asking HDFS for files", NETWORK, r"hdfs\.(DFSClient|protocolPB|client)"),
    ("reading from QFS", NETWORK, r"quantcast\.qfs\.\w+\.\w*Input|\.kfs_(read|seek|open)"),
    ("writing to QFS", NETWORK, r"quantcast\.qfs\.\w+\.\w*Output|\.kfs_(write|close)"),
    ("asking QFS for files", NETWORK, r"quantcast\.qfs"),
    ("reading from Ozone", NETWORK, r"hadoop\.(ozone\.client|hdds\.scm|fs\.ozone)\.[\w.]*Input"),
    ("writing to Ozone", NETWORK, r"hadoop\.(ozone\.client|hdds\.scm|fs\.ozone)\.[\w.]*Output"),
    ("asking Ozone for files", NETWORK, r"hadoop\.(ozone\.(client|om)|fs\.ozone)\."),
    ("writing to S3", NETWORK, r"fs\.s3a\.(S3ABlockOutput|S3ADataBlock|WriteOperation|commit)"),
    ("reading from S3", NETWORK, r"fs\.s3a\.[\w.$]*(Input|Stream)|analyticsaccelerator"),
    ("asking S3 for files", NETWORK, r"fs\.s3a\."),
    ("writing to a local disk", DISK, r"LocalFSFileOutput|ChecksumFSOutput"),
    ("reading from a local disk", DISK, r"LocalFSFileInput|ChecksumFSInput"),
    ("reading from a local disk", DISK, r"fs\.FSInputChecker"),
    ("asking a local file system for files", DISK, r"RawLocalFileSystem|ChecksumFileSystem"),
    ("asking the file system", NETWORK, r"hadoop\.fs\.(FileSystem|FileContext)\b"),
    ("waiting for the driver or a block of another node", NETWORK, r"BlockTransferService"),
    ("waiting for the driver or a block of another node", NETWORK, r"RpcEndpointRef\.ask"),
    ("waiting for shuffle blocks", NETWORK, r"ShuffleBlockFetcherIterator\.(next|fetch)"),
    ("reading shuffle blocks", DISK, r"BufferReleasingInputStream|FileSegmentManagedBuffer"),
    ("reading shuffle blocks", DISK, r"ShuffleBlockFetcher|BlockStoreShuffleReader"),
    ("spilling to disk", DISK, r"\.spill|UnsafeSorterSpill|Spillable|SpillReader|SpillWriter"),
    ("writing shuffle files", DISK, r"DiskBlockObjectWriter"),
    ("writing shuffle files", DISK, r"writeSortedFile|IndexShuffleBlockResolver"),
    ("writing shuffle files", DISK, r"ShuffleMapOutputWriter"),
    ("writing shuffle files", DISK, r"UnsafeShuffleWriter\.(close|merge|insertRecord|open)"),
    ("writing shuffle files", DISK, r"BypassMergeSortShuffleWriter\.(write|stop)"),
    ("hashing", None, r"security\.(provider\.\w*(SHA|MD)|MessageDigest)"),
    ("hashing", None, r"ByteArrayAccess|codec\.digest"),
    ("hashing", None, r"Murmur3|XXH64|JavaUtils\.digestToHexString"),
    ("sorting", None, r"UnsafeInMemorySorter|UnsafeExternal(Row)?Sorter|ShuffleInMemorySorter"),
    ("sorting", None, r"TimSort|RadixSort"),
    ("writing CSV", None, r"univocity[\w.$]*Writ|UnivocityGenerator|datasources\.csv\.CsvOutput"),
    ("reading CSV", None, r"univocity|catalyst\.csv|datasources\.csv"),
    ("writing Parquet", None, r"parquet\.[\w.$]*([Ww]rit(e|ing)|Output)"),
    ("reading Parquet", None, r"org\.apache\.parquet|datasources\.parquet"),
    ("splitting lines", None, r"LineRecordReader|LineReader|HadoopFileLinesReader|SplitLine"),
    ("serialization", None, r"UnsafeRowSerializer|spark\.serializer\.|UnsafeRow\.writeToStream"),
    ("serialization", None, r"Object(Out|In)putStream|esotericsoftware"),
    ("hash aggregation", None, r"unsafe\.map\.|UnsafeFixedWidthAggregation|(Hash|Object)Aggregat"),
    ("joining", None, r"execution\.joins\."),
    ("waiting for memory", None, r"spark\.memory\."),
    ("cached blocks", None, r"storage\.memory\.|storage\.BlockManager\.|execution\.columnar\."),
    ("fetching broadcasts", NETWORK, r"TorrentBroadcast|spark\.broadcast"),
    ("compiling code", None, r"codegen\.CodeGenerator|codehaus\.(janino|commons)"),
    ("loading classes", None, r"java\.lang\.ClassLoader|ExecutorClassLoader|internal\.loader"),
    ("computing: generated code", None, r"GeneratedClass"),
    ("computing: generated code", None, r"GeneratedIterator|SpecificUnsafeProjection"),
    ("computing: generated code", None, r"catalyst\.expressions\.codegen"),
    ("computing: expressions", None, r"catalyst\.expressions\.|spark\.unsafe\.types"),
    ("computing: aggregation", None, r"execution\.aggregate\."),
    ("shuffling: partitioning rows", None, r"ShuffleExchangeExec|UnsafeShuffleWriter|SortShuffle"),
    ("shuffling: partitioning rows", None, r"ShuffleExternalSorter"),
    ("passing rows on and counting them", None, r"InterruptibleIterator"),
    ("passing rows on and counting them", None, r"CompletionIterator|WritingSparkTask"),
    ("passing rows on and counting them", None, r"datasources\.(FileScanRDD|RecordReaderIterator)"),
    ("passing rows on and counting them", None, r"datasources\.\w+Writer\b"),
    ("passing rows on and counting them", None, r"AggregatingAccumulator|CollectMetrics"),
    ("beginning and ending tasks", None, r"executor\.Executor|TaskContext"),
    ("beginning and ending tasks", None, r"scheduler\.Task\b|TaskMetrics"),
    ("beginning and ending tasks", None, r"AccumulatorV2|util\.Utils\$\.tryWith"),
)
"""What tasks do, by what their frames look like. NETWORK is another node, or a server on the own node."""

WAITS_FOR = {name: waits_for for name, waits_for, _ in RULES}
SERVERS = frozenset(
    name
    for name, waits_for in WAITS_FOR.items()
    if waits_for == NETWORK and name.startswith(("reading from ", "writing to "))
)
"""Classes in which a task waits for a server of a file system, which may wait for its disk."""

UNKNOWN = "? "
"""How the name of a class begins that is a frame which no rule knows."""

_ROW_IS_ASKED_FOR = re.compile(
    r"\.(next|hasNext|processNext|advanceNext|getNext|nextKeyValue|compute|runTask)$"
)
_COMPILED = tuple((name, re.compile(regex)) for name, _, regex in RULES)
_LIBRARIES = (*LIBRARIES, KERNEL, WORKER_RUNS, WORKER_WAITS)
"""Frames that do no work of their own: iterators of libraries wrap others."""
_LAMBDA = "$anonfun$"
"""Scala names a function inside of a method `Iterator.$anonfun$next$1`. It does what `Iterator.next` does."""


class _Frame(NamedTuple):
    class_name: str | None
    is_library: bool
    asks_for_row: bool


@lru_cache(maxsize=100_000)
def _known(frame: str) -> _Frame:
    """Return what is known of a frame by its name."""
    method = frame.replace(_LAMBDA, "")
    class_name = next((name for name, regex in _COMPILED if regex.search(method)), None)
    is_library = frame.startswith(_LIBRARIES)
    return _Frame(class_name, is_library, bool(_ROW_IS_ASKED_FOR.search(frame)) and not is_library)


class _Stack(NamedTuple):
    """A stack: its class, None if no rule knows it, and the name of its innermost frame that does work."""

    class_name: str | None
    working_frame: str

    def called(self, frame: str) -> "_Stack":
        """Return the stack in which this one has called a frame."""
        known = _known(frame)
        class_name = known.class_name
        if class_name is None and not known.asks_for_row:
            class_name = self.class_name
        return _Stack(class_name, self.working_frame if known.is_library else frame)

    def name(self, innermost: str) -> str:
        return self.class_name or f"{UNKNOWN}{self.working_frame or innermost}"


_EMPTY = _Stack(None, "")


def classes_of(profile: Profile) -> list[str]:
    """Return what a task does at each node of the tree of a profile: a class, or UNKNOWN and a frame."""
    stacks = [_EMPTY]
    names = [_EMPTY.name("no frame")]
    for parent, number in zip(profile.parents, profile.frame_of, strict=True):
        frame = profile.frames[number]
        stack = stacks[parent].called(frame)
        stacks.append(stack)
        names.append(stack.name(frame))
    return names
