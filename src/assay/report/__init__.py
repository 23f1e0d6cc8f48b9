"""Shows a Summary with its verdicts: one HTML page, Markdown, JSON, terminal and notebook; computes no new results."""

from assay.report.html import render
from assay.report.json import to_json
from assay.report.markdown import markdown
from assay.report.notebook import fragment

__all__ = ["fragment", "markdown", "render", "to_json"]
