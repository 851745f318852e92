"""A Python function: a trained recommender, a model in this process, a client library that has no endpoint of its own.

It is named `module:function`, called with (prompt_text, system_prompt, seed) and returns the answer as a text, or a mapping.
"""

from __future__ import annotations

import importlib
import inspect
import json
import logging
import re
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from collector.errors import InputError, TargetError
from collector.hashing import hash_of_file
from collector.hints import did_you_mean
from collector.redaction import Redactor
from collector.targets.base import NAME, Reply, Request
from collector.targets.fields import Concurrency, ConfiguredTarget, PacedSettings, Simulated, Variables
from collector.targets.http.errors import count, reply_of_error, text_or_none
from collector.validation import NonBlank

KIND = "python"
_RETURNED = (
    "text",
    "items",
    "finish_reason",
    "model",
    "prompt_tokens",
    "completion_tokens",
    "raw",
    "reasoning",
)

_ARGUMENTS = ("prompt_text", "system_prompt", "seed")
# Arguments that a function may have besides, by name.
_OF_CONVERSATION = ("messages", "conversation", "turn")

logger = logging.getLogger(__name__)


def _require_name(value: str) -> str:
    if not re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*", value):
        raise ValueError(f"is {value!r} and should be module:function, such as recommender.model:recommend")
    return value


class Settings(PacedSettings):
    """A Python function."""

    kind: Literal["python"] = Field(description="The kind of target.", examples=["python"])
    function: Annotated[NonBlank, AfterValidator(_require_name)] = Field(
        description="As module:function, next to the targets file or installed.",
        examples=["recommender.model:recommend"],
    )
    model: NonBlank | None = Field(
        default=None,
        description="The model's name in findings; the function's name if absent.",
        examples=["recommender-2026-05"],
    )
    simulated: Simulated = False
    secret_env: Variables = Field(
        default=(),
        description="Environment variables with keys that the function uses; they are removed from what is stored.",
        examples=["MODEL_KEY"],
    )
    # Few functions may be called from several threads at once, so this must be stated.
    concurrency: Concurrency = Field(
        default=1, description="How many threads may call it at once.", examples=[4]
    )


def build(name: str, settings: Settings, folder: Path) -> PythonFunction:
    """Import the function, from the folder of the targets file or from where Python finds it.

    Raises:
        InputError: it cannot be imported, is no function, or does not take the three arguments.
    """
    module_name, _, function_name = settings.function.partition(":")
    module = _import(settings.function, module_name, folder)
    function = getattr(module, function_name, None)
    if not callable(function):
        known = [one for one, value in vars(module).items() if inspect.isfunction(value)]
        raise InputError(
            f"{settings.function}: the module {module_name} has no function {function_name!r}"
            f"{did_you_mean(function_name, known)}"
        )
    return _target(name, function, module, settings)


def of_function(function: Callable[..., object], *, name: str | None = None) -> PythonFunction:
    """Return a function of this process as a target.

    Args:
        function: called as any other, see `PythonFunction`.
        name: the target's name; the function's own if not given.

    Raises:
        InputError: it is async or does not take the three arguments, or the name is none of a target.
    """
    called = getattr(function, "__name__", type(function).__name__)
    name = name or called.strip("_").lower()
    if not re.fullmatch(NAME, name):
        raise InputError(
            f"The target {name!r} should be named with lower-case letters, digits, - and _: give it a name."
        )
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    # Not checked: a lambda's name could not be written into a file.
    settings = Settings.model_construct(kind=KIND, function=f"{getattr(module, '__name__', '')}:{called}")
    return _target(name, function, module, settings)


def _target(
    name: str, function: Callable[..., object], module: ModuleType | None, settings: Settings
) -> PythonFunction:
    if inspect.iscoroutinefunction(function):
        raise InputError(f"{settings.function} is async; name a plain function that waits for its answer.")
    _require_arguments(settings.function, function)
    source = getattr(module, "__file__", None)
    source_hash = hash_of_file(Path(source)) if source is not None else None
    return PythonFunction(name, function, settings, source_hash)


def _import(function: str, module_name: str, folder: Path) -> Any:
    place = str(folder.resolve())
    if place not in sys.path:
        sys.path.insert(0, place)
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and (module_name + ".").startswith(error.name + "."):
            raise InputError(
                f"{function}: there is no module {error.name}; it should lie next to the targets file or be installed."
            ) from None
        raise InputError(
            f"{function}: the module {module_name} imports {error.name}, which is not installed."
        ) from None
    except (Exception, SystemExit) as error:
        logger.warning("%s cannot be imported.", function, exc_info=True)
        raise InputError(
            f"{function}: importing the module {module_name} raised {type(error).__name__}: {error}."
        ) from None


def _require_arguments(name: str, function: Callable[..., Any]) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        # A function written in C may not state its arguments.
        return
    try:
        signature.bind("prompt", None, 0, **dict.fromkeys(_wanted(function)))
    except TypeError:
        raise InputError(
            f"{name} takes {signature} and is called with (prompt_text, system_prompt, seed)."
        ) from None


def _wanted(function: Callable[..., object]) -> tuple[str, ...]:
    """Return what of a conversation a function takes by name."""
    try:
        names = [*inspect.signature(function).parameters][len(_ARGUMENTS) :]
    except (TypeError, ValueError):
        return ()
    return tuple(name for name in _OF_CONVERSATION if name in names)


class PythonFunction(ConfiguredTarget):
    """A function that is called once a question.

    It gets the prompt, the system prompt or None, and a seed that differs by prompt, trial and attempt. By name it may also take
    `messages`, all of them with role and content, `conversation`, the name of the conversation or None, and `turn`, the number
    of the answer in it; without the first two it is asked no conversations. It returns the answer as
    a text, None for no answer, or a mapping with `text` or `items` (a list, stored as a JSON array) and, if known,
    finish_reason, model, prompt_tokens, completion_tokens and raw (stored as the raw body). If it raises an error, the question
    fails and is asked again, unless the error is the message of a content filter; its traceback goes to the log only. A
    TargetError that it raises is taken as it is.

    Args:
        name: the target's name.
        function: the function.
        settings: its entry in targets.yml.
        source_hash: hash of the file that holds it.
    """

    kind = KIND

    def __init__(
        self, name: str, function: Callable[..., object], settings: Settings, source_hash: str | None = None
    ) -> None:
        super().__init__(name, settings.model or settings.function, settings, is_simulated=settings.simulated)
        self._function = function
        self._function_name = settings.function
        self._source_hash = source_hash
        self._redact = Redactor(settings.secret_env)
        self._wanted = _wanted(function)
        by_name = "name" if "conversation" in self._wanted else None
        self.conversations = "messages" if "messages" in self._wanted else by_name

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Return which function, and the hash of its file."""
        return {"function": self._function_name, "source_hash": self._source_hash}

    def ask(self, request: Request) -> Reply:
        """Call the function.

        Raises:
            TargetError: it raised (retryable), or returned what is no answer.
        """
        started = time.perf_counter()
        try:
            of_conversation = {name: getattr(request, name) for name in self._wanted}
            returned = self._function(
                request.prompt_text, request.system_prompt, request.seed, **of_conversation
            )
        except TargetError as error:
            raise self._cleaned(error) from None
        except (Exception, SystemExit) as error:  # noqa: BLE001 (the user's function may raise anything)
            message = self._redact(f"{self.name} raised {type(error).__name__}: {error}")
            if (reply := reply_of_error(message)) is not None:
                return reply
            logger.warning("%s", self._redact(_traceback(error)))
            raise TargetError(message, retryable=True) from None
        latency_ms = (time.perf_counter() - started) * 1000
        if returned is None or isinstance(returned, str):
            return Reply(text=self._redact.optional(returned), latency_ms=latency_ms)
        return self._reply(returned, latency_ms)

    def _reply(self, returned: object, latency_ms: float) -> Reply:
        if not isinstance(returned, Mapping):
            raise TargetError(
                f"{self.name} returned a value of type {type(returned).__name__}; it should return a text or a mapping.",
                stops_run=True,
            )
        unknown = [key for key in returned if key not in _RETURNED]
        if unknown:
            raise TargetError(
                f"{self.name} returned a mapping with the key {unknown[0]!r}{did_you_mean(str(unknown[0]), _RETURNED)}",
                stops_run=True,
            )
        if ("text" in returned) == ("items" in returned):
            raise TargetError(
                f"{self.name} returned a mapping that should have one of the keys text and items.",
                stops_run=True,
            )
        text = returned.get("text") if "text" in returned else self._json(returned["items"], "items")
        if text is not None and not isinstance(text, str):
            raise TargetError(
                f"{self.name} returned text of type {type(text).__name__}; it should be a text or None.",
                stops_run=True,
            )
        return Reply(
            text=text,
            raw_body=self._redact(self._json(returned["raw"], "raw")) if "raw" in returned else None,
            reasoning=text_or_none(returned.get("reasoning")),
            finish_reason=text_or_none(returned.get("finish_reason")),
            model_answered=text_or_none(returned.get("model")),
            prompt_tokens=count(returned.get("prompt_tokens")),
            completion_tokens=count(returned.get("completion_tokens")),
            latency_ms=latency_ms,
        ).cleaned(self._redact)

    def _json(self, value: object, key: str) -> str:
        if key == "raw" and isinstance(value, str):
            return value
        try:
            return json.dumps(value if key == "raw" else _as_list(value), ensure_ascii=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise TargetError(
                f"{self.name} returned {key} that cannot be written as JSON: {error}.", stops_run=True
            ) from None

    def _cleaned(self, error: TargetError) -> TargetError:
        return TargetError(
            self._redact(str(error)),
            retryable=error.retryable,
            stops_run=error.stops_run,
            retry_after_seconds=error.retry_after_seconds,
            raw_body=self._redact.optional(error.raw_body),
            status=error.status,
            hints=error.hints,
        )


def _as_list(value: object) -> list[object]:
    if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__iter__"):
        raise TypeError("it is no list")
    return list(value)


def _traceback(error: BaseException) -> str:
    import traceback

    return "".join(traceback.format_exception(error)).rstrip()
