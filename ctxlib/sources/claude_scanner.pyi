from collections.abc import Callable

from ctxlib.sources.base import Rows

def fits() -> bool: ...

class Scanner:
    handed: int
    def __init__(self, rows: Rows, read_line: Callable[[Rows, int, bytes], None]) -> None: ...
    def __call__(self, data: bytearray, size: int, no: int) -> tuple[int, int]: ...
