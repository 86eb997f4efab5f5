"""What each probe prints."""
