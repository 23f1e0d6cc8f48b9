"""Shows a Summary with its verdicts: one HTML page, Markdown, JSON, terminal and notebook; computes no new results."""
