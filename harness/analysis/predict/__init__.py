"""What an upgrade would bring, frozen before it and scored after it."""
