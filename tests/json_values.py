"""What a file or a host may say in place of a value."""

_LEVELS = 500

JSON_VALUES = {
    "null": "null",
    "true": "true",
    "a negative number": "-1",
    "a huge number": "1" + "0" * 18,
    "an enormous number": "1" + "0" * 400,
    "a number of 5,000 digits": "9" * 5000,
    "a fraction": "1.5",
    "the smallest fraction": "5e-324",
    "the largest fraction": "1.7976931348623157e308",
    "a fraction beyond the largest": "1e400",
    "not a number": "NaN",
    "infinity": "Infinity",
    "negative infinity": "-Infinity",
    "an empty text": '""',
    "a text": '"x"',
    "a number as text": '"3.5"',
    "a text of 1 MB": f'"{"x" * 10**6}"',
    "control characters": r'"\u0000\u001b[31m\r\n\t\u009b\u202e"',
    "half of a surrogate pair": r'"\ud800"',
    "an empty array": "[]",
    "an array with null": "[null]",
    "an array of numbers": "[5]",
    "an array of texts": '["x"]',
    "deep arrays": "[" * _LEVELS + "]" * _LEVELS,
    "an empty object": "{}",
    "an object with a number": '{"x": 1}',
    "an object with null": '{"x": null}',
    "a key that is half of a surrogate pair": r'{"\ud800": "x"}',
    "a key of control characters": r'{"\u0000\u001b[31m\n": "x"}',
    "deep objects": '{"x":' * _LEVELS + "1" + "}" * _LEVELS,
}
"""JSON texts by name: values of each kind, at the limits of each, and beyond."""
