"""Key agreement (Diffie and Hellman): two sides get a key, and whoever reads all that they send does not.

Each side draws a private number and sends the public number that follows from it. One side's private number
and the other's public number give the key. The group is that of RFC 3526 with 2048 bits.

Executors get this module by value, so it imports the standard library alone.
"""

import hashlib
import secrets

PRIME = int(
    "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74"
    "020BBEA63B139B22514A08798E3404DDEF9519B3CD3A431B302B0A6DF25F1437"
    "4FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED"
    "EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE45B3DC2007CB8A163BF05"
    "98DA48361C55D39A69163FA8FD24CF5F83655D23DCA3AD961C62F356208552BB"
    "9ED529077096966D670C354E4ABC9804F1746C08CA18217C32905E462E36CE3B"
    "E39E772C180E86039B2783A2EC07A28FB5C55DF06F4C52C9DE2BCBF695581718"
    "3995497CEA956AE515D2261898FA051015728E5A8AACAA68FFFFFFFFFFFFFFFF",
    16,
)
GENERATOR = 2
PRIVATE_BITS = 256
FINGERPRINT_BYTES = 32


def private_number() -> int:
    """Return a new private number, of 256 random bits."""
    return secrets.randbits(PRIVATE_BITS)


def public_number(private: int) -> int:
    """Return the public number that follows from a private one."""
    return pow(GENERATOR, private, PRIME)


def agreed_key(private: int, public: int) -> bytes:
    """Return the key of 32 bytes that the owner of a private number shares with that of a public one."""
    return _digest(pow(public, private, PRIME))


def fingerprint(public: int) -> bytes:
    """Return a digest of 32 bytes by which a public number is known."""
    return _digest(public)


def _digest(number: int) -> bytes:
    return hashlib.sha256(number.to_bytes(PRIME.bit_length() // 8)).digest()
