"""What is recorded and printed has no credentials; nothing else is changed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.redaction import digest, redacted, redacted_command, without_credentials


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("hdfs://alice:hunter2@n1:9000/d", "hdfs://***@n1:9000/d"),
        ("s3a://AKIA:wJalr+x@bucket/a and s3a://b:c@d", "s3a://***@bucket/a and s3a://***@d"),
        ("jdbc:postgresql://u:p@ss@h/db?password=x&ssl=true",
         "jdbc:postgresql://***@h/db?password=***&ssl=true"),
        ("-Ddb.pass='a b' -Xmx4g", "-Ddb.pass=*** -Xmx4g"),
        ("DB_PASSWORD = hunter2; retry", "DB_PASSWORD = ***; retry"),
        ('{"apiKey": "x", "rows": 5}', '{"apiKey": ***, "rows": 5}'),
        ("fs.azure.account.key.a.blob=abc==", "fs.azure.account.key.a.blob=***"),
        ("GET /?sig=abc%3D&x=1", "GET /?sig=***&x=1"),
        ("Authorization: Bearer eyJhbGciOi", "Authorization: Bearer ***"),
    ],
)  # fmt: skip
def test_credentials_of_a_known_form_are_hidden(text: str, shown: str) -> None:
    assert without_credentials(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "spark://n1:7077",
        "hdfs://n1:9000/user/alice@example.org/rows",
        "passed: 12, failed: 3",
        "invalid token ')' in line 3",
        "bypass=1 compass=north",
        "tokens=5",
        "the password is missing",
        "alice@example.org",
    ],
)
def test_other_texts_stay(text: str) -> None:
    assert without_credentials(text) == text


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
    ]
    assert redacted_command(words) == (
        "jobs/x.py --fact 'db password=***' '--fact=token=***' 'u://***@c' 'n=1 2'"
    )


def test_a_digest_shows_a_difference_and_is_too_short_to_confirm_a_guess() -> None:
    assert digest("a") == digest("a") != digest("b")
    assert len(digest("hunter2").removeprefix("digest:")) == 4
