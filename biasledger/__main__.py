"""`biasledger` and `python -m biasledger`: the command line."""

from __future__ import annotations

import signal
import sys
import threading

# By then what lost the interrupt has returned.
_AGAIN_SECONDS = 0.05


def main() -> None:
    """Run the command; Ctrl-C while its modules are loaded ends it as it does later."""
    try:
        sys.unraisablehook = _unraisable
        from biasledger.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("Stopped.\n")
        sys.exit(130)


def _unraisable(lost: sys.UnraisableHookArgs) -> None:
    """Send Ctrl-C again where Python could not raise it: in a finalizer, or a weak reference's callback, as each import has."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        threading.Timer(_AGAIN_SECONDS, _interrupt_main_thread).start()
    else:
        sys.__unraisablehook__(lost)


def _interrupt_main_thread() -> None:
    # A signal, which ends a wait of the system, too.
    main_thread = threading.main_thread().ident
    if main_thread is not None:
        signal.pthread_kill(main_thread, signal.SIGINT)


if __name__ == "__main__":
    main()
