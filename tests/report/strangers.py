"""Names that strangers may give to columns, values and files."""

STRANGE_NAMES = {
    "script": "<script>alert(1)</script>",
    "end of script": '</script></style></template><img src=x onerror="alert(1)">',
    "quotes": "a\"b'c`d\" onmouseover='alert(1)'",
    "entity": "&lt;b&gt; &amp; &#60;",
    "emoji": "👩‍🚀🇨🇭 ok",
    "right to left": "שלום (עולם) \u202e!olleh",
    "control": "a\x00b\x1b[31m\x07\r\n\tc\x85",
    "long": "x<y " * 2500,
    "lone surrogates": "\ud83d and \udc00",
    "template": "{{ 7*7 }}{% raw %}{# x #}",
    "markdown": "*a*_b_`c`|d|[e](f)~~g~~ # h\n# i\n```\n",
    "empty": "",
    "blank": "  ",
    "not a character": "\ufffe\uffff\u2028",
}
