"""The error for a missing protobuf installation."""

__all__ = ["ProtobufMissing"]


class ProtobufMissing(ModuleNotFoundError):
    """The extra `proto` is not installed; the message says how to install it."""

    def __init__(self) -> None:
        super().__init__(
            "protobuf is not installed: pip install 'xlagraph[proto]'", name="google.protobuf"
        )
