"""Text that comes from people or files, made safe to stand inside Markdown."""

import re

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~$:&])")


def plain(text: str) -> str:
    """The text with every Markdown sign escaped, so that it shows as it was typed."""
    return _SPECIAL.sub(r"\\\1", text.replace("\n", " "))


def money_safe(text: str) -> str:
    """Our own Markdown with dollar signs escaped: Streamlit would read a pair of them as mathematics."""
    return text.replace("$", r"\$")
