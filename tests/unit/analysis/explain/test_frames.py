"""What a task does is read from its stack: the innermost frame that a rule knows names it."""

import re

import pytest

from harness.analysis.explain.frames import RULES, WAITS_FOR, class_of, own_frame
from harness.model.profile import Stack

TASK = (
    "org.apache.spark.scheduler.ShuffleMapTask.runTask",
    "org.apache.spark.shuffle.sort.UnsafeShuffleWriter.write",
    "org.apache.spark.sql.execution.WholeStageCodegenEvaluatorFactory$$anon$1.hasNext",
    "org.apache.spark.sql.catalyst.expressions.GeneratedClass$GeneratedIteratorForCodegenStage1.processNext",
)


def stack(*above: str) -> Stack:
    """Return a task that asks generated code for rows, which does this."""
    return (*TASK, *above)


@pytest.mark.parametrize(
    ("above", "expected"),
    [
        ([], "computing: generated code"),
        (["java.lang.Math.abs"], "computing: generated code"),
        (["org.apache.spark.unsafe.types.UTF8String.copy"], "computing: expressions"),
        (
            [
                "org.apache.spark.storage.ShuffleBlockFetcherIterator.next",
                "org.apache.spark.util.Utils$.timeTakenMs",
                "org.apache.spark.storage.ShuffleBlockFetcherIterator.$anonfun$next$1",
                "java.util.concurrent.LinkedBlockingDeque.take",
                "jdk.internal.misc.Unsafe.park",
            ],
            "waiting for shuffle blocks",
        ),
        (
            [
                "org.apache.hadoop.mapreduce.lib.input.LineRecordReader.nextKeyValue",
                "org.apache.hadoop.hdfs.DFSInputStream.read",
                "org.apache.hadoop.hdfs.client.impl.BlockReaderRemote.read",
                "sun.nio.ch.EPoll.wait",
            ],
            "reading from HDFS: through a DataNode",
        ),
        (
            [
                "org.apache.hadoop.mapreduce.lib.input.LineRecordReader.nextKeyValue",
                "org.apache.hadoop.hdfs.DFSStripedInputStream.readOneStripe",
                "org.apache.hadoop.hdfs.util.StripedBlockUtil.getNextCompletedStripedRead",
                "jdk.internal.misc.Unsafe.park",
            ],
            "reading from HDFS: waiting for stripes",
        ),
        (
            [
                "org.apache.hadoop.fs.ozone.OzoneFSInputStream.read",
                "org.apache.hadoop.ozone.client.io.ECBlockInputStream.read",
                "org.apache.hadoop.hdds.scm.XceiverClientGrpc.sendCommandWithRetry",
                "jdk.internal.misc.Unsafe.park",
            ],
            "reading from Ozone",
        ),
        (
            [
                "org.apache.hadoop.ozone.client.io.ECBlockReconstructedStripeInputStream.readStripe",
                "org.apache.ozone.erasurecode.rawcoder.RSRawDecoder.doDecode",
            ],
            "decoding erasure codes",
        ),
        (
            [
                "org.apache.hadoop.fs.ozone.BasicRootedOzoneFileSystem.open",
                "org.apache.hadoop.ozone.om.protocolPB.OzoneManagerProtocolClientSideTranslatorPB.getKeyInfo",
            ],
            "asking Ozone for files",
        ),
        (
            [
                "com.quantcast.qfs.hadoop.KFSInputStream.read",
                "com.quantcast.qfs.access.KfsInputChannelBase.read",
            ],
            "reading from QFS",
        ),
        (
            ["org.apache.spark.sql.catalyst.csv.UnivocityParser.parse", "java.lang.String.split"],
            "reading CSV",
        ),
        (
            [
                "org.apache.spark.storage.DiskBlockObjectWriter.write",
                "net.jpountz.lz4.LZ4BlockOutputStream.flushBufferedData",
                "net.jpountz.lz4.LZ4JNI.LZ4_compress_limitedOutput",
            ],
            "compression",
        ),
        (["net.jpountz.lz4.LZ4JNI.LZ4_decompress_fast"], "decompression"),
        (
            [
                "org.apache.spark.broadcast.TorrentBroadcast.$anonfun$readBlocks$1",
                "org.apache.spark.storage.BlockManager.fetchRemoteManagedBuffer",
                "org.apache.spark.network.BlockTransferService.fetchBlockSync",
                "jdk.internal.misc.Unsafe.park",
            ],
            "waiting for the driver or a block of another node",
        ),
        (
            [
                "org.apache.hadoop.fs.RawLocalFileSystem$LocalFSFileOutputStream.write",
                "java.io.FileOutputStream.writeBytes",
            ],
            "writing to a local disk",
        ),
        (
            ["org.apache.hadoop.fs.RawLocalFileSystem.rename"],
            "asking a local file system for files",
        ),
        (
            [
                "org.apache.hadoop.fs.FSOutputSummer.writeChecksumChunks",
                "org.apache.hadoop.hdfs.DFSStripedOutputStream.writeParityCells",
                "org.apache.hadoop.io.erasurecode.rawcoder.RSRawEncoder.doEncode",
                "org.apache.hadoop.io.erasurecode.rawcoder.util.RSUtil.encodeData",
            ],
            "encoding erasure codes",
        ),
        (
            [
                "org.apache.hadoop.io.erasurecode.rawcoder.RSRawDecoder.doDecode",
                "org.apache.hadoop.io.erasurecode.rawcoder.util.RSUtil.encodeData",
            ],
            "decoding erasure codes",
        ),
        (
            [
                "org.apache.hadoop.fs.s3a.S3ABlockOutputStream.close",
                "org.apache.hadoop.fs.s3a.impl.S3AMultipartUploader.complete",
                "software.amazon.awssdk.core.internal.http.AmazonSyncHttpClient.execute",
            ],
            "asking S3 for files",
        ),
        (
            [
                "org.apache.hadoop.fs.s3a.S3ABlockOutputStream.close",
                "com.google.common.util.concurrent.ForwardingFuture.get",
            ],
            "writing to S3",
        ),
        (
            [
                "org.apache.hadoop.fs.s3a.S3AInputStream.read",
                "software.amazon.awssdk.core.ResponseInputStream.read",
            ],
            "reading from S3",
        ),
        (
            [
                "org.apache.spark.sql.execution.datasources.csv.CsvOutputWriter.write",
                "org.apache.spark.sql.catalyst.csv.UnivocityGenerator.write",
                "com.univocity.parsers.csv.CsvWriter.append",
            ],
            "writing CSV",
        ),
        (
            [
                "org.apache.spark.sql.execution.datasources.parquet.ParquetWriteSupport.write",
                "org.apache.parquet.column.values.dictionary.DictionaryValuesWriter.writeBytes",
                "org.apache.parquet.bytes.CapacityByteArrayOutputStream.write",
            ],
            "writing Parquet",
        ),
        (["org.apache.parquet.column.values.ValuesReader.readInteger"], "reading Parquet"),
        (
            ["java.security.MessageDigest.digest", "sun.security.provider.SHA5.implCompress0"],
            "hashing",
        ),
    ],
)
def test_the_innermost_frame_that_a_rule_knows_names_the_class(
    above: list[str], expected: str
) -> None:
    assert class_of(stack(*above)) == expected


def test_what_no_rule_knows_is_not_hidden_in_the_class_of_who_asked_for_a_row() -> None:
    unknown = stack("com.example.Reader.hasNext", "com.example.Codec.unpack", "java.lang.Math.abs")
    assert class_of(unknown) is None
    assert own_frame(unknown) == "com.example.Codec.unpack"


def test_a_task_without_a_frame_has_a_name() -> None:
    assert class_of(()) is None
    assert own_frame(()) == "no frame"


@pytest.mark.parametrize(("name", "waits_for", "regex"), RULES)
def test_no_rule_knows_everything_and_all_of_a_class_wait_for_the_same(
    name: str, waits_for: str | None, regex: str
) -> None:
    assert re.compile(regex).search("") is None
    assert WAITS_FOR[name] == waits_for
