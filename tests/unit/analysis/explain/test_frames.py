"""What a task does is read from its stack: the innermost frame that a rule knows names it."""

import re

import pytest

from harness.analysis.explain.frames import RULES, WAITS_FOR, classes_of
from harness.model.profile import Profile, Stack

TASK = (
    "org.apache.spark.scheduler.ShuffleMapTask.runTask",
    "org.apache.spark.shuffle.sort.UnsafeShuffleWriter.write",
    "org.apache.spark.sql.execution.WholeStageCodegenEvaluatorFactory$$anon$1.hasNext",
    "org.apache.spark.sql.catalyst.expressions.GeneratedClass$GeneratedIteratorForCodegenStage1.processNext",
)
PARKED = "jdk.internal.misc.Unsafe.park"
READER = "hadoop.mapreduce.lib.input.LineRecordReader.nextKeyValue"


def stack(*above: str) -> Stack:
    """Return a task that asks generated code for rows, which does this; `org.apache.` may be left out."""
    projects = r"^(?=(?:spark|hadoop|parquet|ozone)\.)"
    return (*TASK, *(re.sub(projects, "org.apache.", frame) for frame in above))


def class_of(frames: Stack) -> str:
    """Return what a task does at the innermost of these frames."""
    numbers = tuple(range(len(frames)))
    return classes_of(Profile(0.01, (), frames, numbers, numbers, (), {}))[-1]


@pytest.mark.parametrize(
    ("expected", "above"),
    [
        ("computing: generated code", []),
        ("computing: generated code", ["java.lang.Math.abs"]),
        ("computing: expressions", ["spark.unsafe.types.UTF8String.copy"]),
        ("waiting for shuffle blocks", [
            "spark.storage.ShuffleBlockFetcherIterator.next", "spark.util.Utils$.timeTakenMs",
            "spark.storage.ShuffleBlockFetcherIterator.$anonfun$next$1",
            "java.util.concurrent.LinkedBlockingDeque.take", PARKED]),
        ("waiting for the driver or a block of another node", [
            "spark.broadcast.TorrentBroadcast.$anonfun$readBlocks$1",
            "spark.storage.BlockManager.fetchRemoteManagedBuffer",
            "spark.network.BlockTransferService.fetchBlockSync", PARKED]),
        ("reading from HDFS: through a DataNode", [
            READER, "hadoop.hdfs.DFSInputStream.read",
            "hadoop.hdfs.client.impl.BlockReaderRemote.read", "sun.nio.ch.EPoll.wait"]),
        ("reading from HDFS: waiting for stripes", [
            READER, "hadoop.hdfs.DFSStripedInputStream.readOneStripe",
            "hadoop.hdfs.util.StripedBlockUtil.getNextCompletedStripedRead", PARKED]),
        ("reading from Ozone", [
            "hadoop.fs.ozone.OzoneFSInputStream.read",
            "hadoop.ozone.client.io.ECBlockInputStream.read",
            "hadoop.hdds.scm.XceiverClientGrpc.sendCommandWithRetry", PARKED]),
        ("asking Ozone for files", [
            "hadoop.fs.ozone.BasicRootedOzoneFileSystem.open",
            "hadoop.ozone.om.protocolPB.OzoneManagerProtocolClientSideTranslatorPB.getKeyInfo"]),
        ("decoding erasure codes", [
            "hadoop.ozone.client.io.ECBlockReconstructedStripeInputStream.readStripe",
            "ozone.erasurecode.rawcoder.RSRawDecoder.doDecode"]),
        ("decoding erasure codes", [
            "hadoop.io.erasurecode.rawcoder.RSRawDecoder.doDecode",
            "hadoop.io.erasurecode.rawcoder.util.RSUtil.encodeData"]),
        ("encoding erasure codes", [
            "hadoop.fs.FSOutputSummer.writeChecksumChunks",
            "hadoop.hdfs.DFSStripedOutputStream.writeParityCells",
            "hadoop.io.erasurecode.rawcoder.RSRawEncoder.doEncode",
            "hadoop.io.erasurecode.rawcoder.util.RSUtil.encodeData"]),
        ("reading from QFS", [
            "com.quantcast.qfs.hadoop.KFSInputStream.read",
            "com.quantcast.qfs.access.KfsInputChannelBase.read"]),
        ("reading from S3", [
            "hadoop.fs.s3a.S3AInputStream.read",
            "software.amazon.awssdk.core.ResponseInputStream.read"]),
        ("asking S3 for files", [
            "hadoop.fs.s3a.S3ABlockOutputStream.close",
            "hadoop.fs.s3a.impl.S3AMultipartUploader.complete",
            "software.amazon.awssdk.core.internal.http.AmazonSyncHttpClient.execute"]),
        ("writing to S3", [
            "hadoop.fs.s3a.S3ABlockOutputStream.close",
            "com.google.common.util.concurrent.ForwardingFuture.get"]),
        ("writing to a local disk", [
            "hadoop.fs.RawLocalFileSystem$LocalFSFileOutputStream.write",
            "java.io.FileOutputStream.writeBytes"]),
        ("asking a local file system for files", ["hadoop.fs.RawLocalFileSystem.rename"]),
        ("reading CSV", ["spark.sql.catalyst.csv.UnivocityParser.parse", "java.lang.String.split"]),
        ("writing CSV", [
            "spark.sql.execution.datasources.csv.CsvOutputWriter.write",
            "spark.sql.catalyst.csv.UnivocityGenerator.write",
            "com.univocity.parsers.csv.CsvWriter.append"]),
        ("reading Parquet", ["parquet.column.values.ValuesReader.readInteger"]),
        ("writing Parquet", [
            "spark.sql.execution.datasources.parquet.ParquetWriteSupport.write",
            "parquet.column.values.dictionary.DictionaryValuesWriter.writeBytes",
            "parquet.bytes.CapacityByteArrayOutputStream.write"]),
        ("compression", [
            "spark.storage.DiskBlockObjectWriter.write",
            "net.jpountz.lz4.LZ4BlockOutputStream.flushBufferedData",
            "net.jpountz.lz4.LZ4JNI.LZ4_compress_limitedOutput"]),
        ("decompression", ["net.jpountz.lz4.LZ4JNI.LZ4_decompress_fast"]),
        ("hashing", ["java.security.MessageDigest.digest", "sun.security.provider.SHA5.implCompress0"]),
    ],
)  # fmt: skip
def test_the_innermost_frame_that_a_rule_knows_names_the_class(
    expected: str, above: list[str]
) -> None:
    assert class_of(stack(*above)) == expected


def test_what_no_rule_knows_is_not_hidden_in_the_class_of_who_asked_for_a_row() -> None:
    unknown = stack("com.example.Reader.hasNext", "com.example.Codec.unpack", "java.lang.Math.abs")
    assert class_of(unknown) == "? com.example.Codec.unpack"


def test_a_task_without_a_frame_has_a_name() -> None:
    assert class_of(()) == "? no frame"


@pytest.mark.parametrize(("name", "waits_for", "regex"), RULES)
def test_no_rule_knows_everything_and_all_of_a_class_wait_for_the_same(
    name: str, waits_for: str | None, regex: str
) -> None:
    assert re.compile(regex).search("") is None
    assert WAITS_FOR[name] == waits_for
