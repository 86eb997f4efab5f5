"""What commands print: pages made of blocks, and the renderers of text, Markdown, JSON and HTML."""
