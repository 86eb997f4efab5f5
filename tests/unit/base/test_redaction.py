"""What is recorded and printed has no credentials; nothing else is changed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.redaction import HIDDEN, digest, redacted, redacted_command, without_credentials
from tests.unit.announced_secrets import ANNOUNCED, HARMLESS, TOKENS

GITHUB = "ghp_" + "aB3" * 12
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSM-_w"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("hdfs://alice:hunter2@n1:9000/d", "hdfs://***@n1:9000/d"),
        ("s3a://AKIA:wJalr+x@bucket/a and s3a://b:c@d", "s3a://***@bucket/a and s3a://***@d"),
        ("s3a://AKIA:wJ/al/r@bucket/a", "s3a://***@bucket/a"),
        ("hdfs://n1:9000/d/a@b and s3a://n1/a@b", "hdfs://n1:9000/d/a@b and s3a://n1/a@b"),
        ("jdbc:sqlserver://h;password={a;b};x=1", "jdbc:sqlserver://h;password=***;x=1"),
        ("SharedAccessSignature=abc1", "SharedAccessSignature=***"),
        ("CREDENTIALS=(AWS_SECRET_KEY='abc1' X='y')", "CREDENTIALS=(AWS_SECRET_KEY=*** X='y')"),
        ("fs.s3a.session.token abc1", "fs.s3a.session.token ***"),
        ("jdbc:postgresql://u:p@ss@h/db?password=x&ssl=true",
         "jdbc:postgresql://***@h/db?password=***&ssl=true"),
        ("-Ddb.pass='a b' -Xmx4g", "-Ddb.pass=*** -Xmx4g"),
        ("DB_PASSWORD = hunter2; retry", "DB_PASSWORD = ***; retry"),
        ("PGPASSWORD=hunter2 psql -h db", "PGPASSWORD=*** psql -h db"),
        ('{"apiKey": "x", "rows": 5}', '{"apiKey": ***, "rows": 5}'),
        (r'{"password": "a\"b c", "rows": 5}', '{"password": ***, "rows": 5}'),
        (r'"{\"password\": \"a b\", \"rows\": 5}"', r'"{\"password\": ***, \"rows\": 5}"'),
        ('token="never closed, and more', "token=***"),
        ("fs.azure.account.key.a.blob=abc==", "fs.azure.account.key.a.blob=***"),
        ("GET /?sig=abc%3D&x=1", "GET /?sig=***&x=1"),
        ("password: hunter2, port: 5", "password: *** port: 5"),
        ("aws_secret_access_key: abc1 # mine", "aws_secret_access_key: *** # mine"),
        ("spark.hadoop.fs.s3a.secret.key abc1", "spark.hadoop.fs.s3a.secret.key ***"),
        ("Authorization: Bearer eyJhbGciOi", "Authorization: Bearer ***"),
        ("Authorization: token abc1", "Authorization: token ***"),
        ("Authorization: abc1", "Authorization: ***"),
        ("curl -H 'X-Api-Key: abc1' https://h", "curl -H 'X-Api-Key: ***' https://h"),
        ("curl -H 'X-Auth-Token: abc1' https://h", "curl -H 'X-Auth-Token: ***' https://h"),
        ("PRIVATE-TOKEN: abc1", "PRIVATE-TOKEN: ***"),
        ("Cookie: session=abc1", "Cookie: ***"),
        ("curl -u admin:hunter2 https://h", "curl -u admin:*** https://h"),
        ("curl -uadmin:hunter2 https://h", "curl -uadmin:*** https://h"),
        ("curl --user 'admin:hunter2' https://h", "curl --user 'admin:***' https://h"),
        ("sshpass -p hunter2 ssh h", "sshpass -p *** ssh h"),
        ("sshpass -phunter2 ssh h", "sshpass -p*** ssh h"),
        ("mysql -u root -phunter2 db", "mysql -u root -p*** db"),
        ("ipmitool -H h -U admin -P hunter2 power", "ipmitool -H h -U admin -P *** power"),
        ("redis-cli -h n1 -a hunter2 ping", "redis-cli -h n1 -a *** ping"),
        ("ldapsearch -D cn=a -w hunter2", "ldapsearch -D cn=a -w ***"),
        ("docker login -u me -p hunter2 h", "docker login -u me -p *** h"),
        ("snmpset -v2c -c private 10.0.0.1", "snmpset -v2c -c *** 10.0.0.1"),
        ("snmpget -A one -X two -u me 10.0.0.1", "snmpget -A *** -X *** -u me 10.0.0.1"),
        ("snmp-server community s3cret RW", "snmp-server community *** RW"),
        ("username a password 7 0822455D", "username a password 7 ***"),
        ("smbclient -U alice%hunter2 //h/d", "smbclient -U alice%*** //h/d"),
        ("openssl rsa -passin pass:hunter2", "openssl rsa -passin ***"),
        ("tool --password hunter2 --port 5", "tool --password *** --port 5"),
        ("sh -c 'tool --api-key abc1'", "sh -c 'tool --api-key ***'"),
        ("keytool -storepass hunter2 -list", "keytool -storepass *** -list"),
        ("tool --auth-token 'a b' x", "tool --auth-token *** x"),
        (f"git clone {GITHUB} x", "git clone *** x"),
        ("key AKIAIOSFODNN7EXAMPLE in use", "key *** in use"),
        (f"got {JWT} back", "got *** back"),
        ("xoxb-1234567890-abcdef", "***"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----.", "***."),
    ],
)  # fmt: skip
def test_credentials_of_a_known_form_are_hidden(text: str, shown: str) -> None:
    assert without_credentials(text) == shown


@pytest.mark.parametrize("text", ANNOUNCED)
def test_what_a_name_announces_is_hidden_however_it_is_written(text: str) -> None:
    assert "hunter2" not in without_credentials(text)
    assert HIDDEN in without_credentials(text)


@pytest.mark.parametrize("text", TOKENS)
def test_keys_and_tokens_of_a_known_form_are_hidden(text: str) -> None:
    assert without_credentials(f"got {text} back") == "got *** back"


@pytest.mark.parametrize("text", HARMLESS)
def test_texts_about_columns_and_counts_stay(text: str) -> None:
    assert without_credentials(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "spark://n1:7077",
        "hdfs://n1:9000/user/alice@example.org/rows",
        "passed: 12, failed: 3",
        "pass: 12, fail: 3",
        "invalid token ')' in line 3",
        "bypass=1 compass=north",
        "tokens=5",
        "the password is missing",
        "spark.hadoop.fs.s3a.secret.key is missing",
        "spark.ssl.keyPassword in use",
        "option --password is missing; give --password or --token",
        "alice@example.org",
        "Permission denied (publickey,password).",
        "root@n1's password: ",
        "kubectl --token-file /run/token get nodes",
        "docker login --password-stdin h",
        "docker run -u 1000:1000 image",
        "date -u 12:30",
        "rsync -u n1:/data /data",
        "mysql -u root -p db",
        "ping -c 5 -p ff 10.0.0.1",
        "ssh -p 22 n1",
        "iperf3 -c n1 -P 4 -w 256k",
        "redis-cli -h n1 ping",
        "snmpwalk -v2c 10.0.0.1",
        "curl -u admin https://h",
        "tar -P -a x",
        "a key of AKIA in the text, and eyJ alone",
        "sha256 eyJhbGciOiJIUzI1NiJ9",
        "skills: sk_live",
        "the secret of a fast network",
        "X-Forwarded-For: 10.0.0.1",
        "the authorization failed; Basic tests run",
        "monkey=1 keyboard: us",
        "spark.sql.shuffle.partitions=8",
        "-----BEGIN CERTIFICATE-----",
        "basic setup",
        "tc qdisc replace dev eth0 root tbf rate 100mbit burst 32kb latency 400ms",
        "the community of users -u",
        "ethtool -s eth0 speed 1000 duplex full",
        "ip -j -d -s link show dev eth0",
        "apply --user alice --port 22",
    ],
)
def test_other_texts_stay(text: str) -> None:
    assert without_credentials(text) == text


@pytest.mark.parametrize(
    "part",
    ["pwd", "token-", "token ", 'pwd="', "pwd=\\", "--pwd-", "-u a", "eyJ-", "eyJ.", "sshpass ", "snmpget -c",
     "x-", "Bearer ", "://", "-----BEGIN PRIVATE KEY-----", "password: ", "password 7 ", "--", "password /*",
     "password -- x", "password\n", "pwd='\\", 'pwd=\\"', "decrypt(", "decrypt((a", "a.b.password ",
     "identified ", "(password,", "thin:a/", "a_pwd_b_", "</name><value>", "token 'x'||"],
)  # fmt: skip
def test_a_text_that_repeats_a_form_takes_no_longer_than_others(part: str) -> None:
    """In quadratic time, this would take a minute for all of them."""
    without_credentials(part * (50_000 // len(part)))


def test_a_text_below_a_telling_name_becomes_a_digest() -> None:
    values = {"db": {"password": "hunter2", "port": 5, "hosts": ["u://a:b@c"]}, "tokens": 3}
    assert redacted(values) == {
        "db": {"password": digest("hunter2"), "port": 5, "hosts": ["u://***@c"]},
        "tokens": 3,
    }


@given(
    st.recursive(st.text() | st.integers(), lambda v: st.dictionaries(st.text(), v) | st.lists(v))
)
def test_to_redact_twice_changes_nothing_more(value: object) -> None:
    assert redacted(redacted(value)) == redacted(value)


def test_a_command_has_no_secret_in_any_word() -> None:
    words = [
        "jobs/x.py",
        "--fact",
        "db password=two words",
        "--fact=token=a=b",
        "u://a:b@c",
        "n=1 2",
        "--api-key",
        "a b",
    ]
    assert redacted_command(words) == (
        "jobs/x.py --fact 'db password=***' '--fact=token=***' 'u://***@c' 'n=1 2' --api-key ***"
    )


def test_a_digest_shows_a_difference_and_is_too_short_to_confirm_a_guess() -> None:
    assert digest("a") == digest("a") != digest("b")
    assert len(digest("hunter2").removeprefix("digest:")) == 4
