"""How schemathesis sends a body of lines: the text that it made up, whatever that is."""

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(context, value):
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else str(value).encode()
