"""Functions that are called otherwise in Spark, or give something else there under the same name."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache

import duckdb
import sqlglot
from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import UnsupportedError

from biasledger.spark.nodes import Spark4, call, constant, template
from biasledger.spark.patterns import java_pattern

_DATE_PARTS = {"%Y": "yyyy", "%m": "MM", "%d": "dd", "%H": "HH", "%M": "mm", "%S": "ss"}
# All characters but surrogates, those of private use and what was never assigned.
_CODES = ((1, 0xD800), (0xF900, 0x33480), (0xE0100, 0xE01F0))
# Korean letters that make one syllable, and a syllable with a letter behind it.
_JAMO = "(?:[ᄀ-ᄒ][ᅡ-ᅵ][ᆨ-ᇂ]?|[가-힣][ᆨ-ᇂ])"
_UNSIGNED = exp.DataType.build("decimal(20, 0)")
_TYPES = {
    exp.DType.UBIGINT: _UNSIGNED,
    # DuckDB's type for sums of integers; sums past 64 bits are an error in Spark.
    exp.DType.INT128: exp.DataType.build("bigint"),
    exp.DType.UTINYINT: exp.DataType.build("smallint"),
    exp.DType.USMALLINT: exp.DataType.build("int"),
    exp.DType.UINT: exp.DataType.build("bigint"),
    exp.DType.JSON: exp.DataType.build("text"),
    exp.DType.TIMESTAMP: exp.DataType.build("timestampntz"),
}


# --- JSON ---------------------------------------------------------------------------------------------------------------------


def _arrow_in_a_call(node: exp.Lambda) -> exp.Expr | None:
    """sqlglot takes the arrow of `f(content -> 'key')` for that of a lambda."""
    if len(node.expressions) != 1 or isinstance(node.parent, (exp.Transform, exp.ArrayFilter)):
        return None
    paths: list[exp.Expr] = []
    inner = node.this
    while isinstance(inner, (exp.JSONExtract, exp.JSONExtractScalar)):
        paths.insert(0, inner.expression)
        inner = inner.this
    if not (isinstance(inner, exp.Literal) and inner.is_string):
        return None
    if inner.name.startswith("/"):
        raise UnsupportedError("a path of JSON that begins with /")
    # A text that begins with $ is a path, any other a key.
    key = (
        DuckDB().to_json_path(inner)
        if inner.name.startswith("$")
        else exp.JSONPath(expressions=[exp.JSONPathRoot(), exp.JSONPathKey(this=inner.name)])
    )
    found: exp.Expr = sqlglot.parse_one(node.expressions[0].sql("duckdb"), dialect=DuckDB)
    for path in (key, *paths):
        found = exp.JSONExtract(this=found, expression=path)
    return found


def _made_path(node: exp.JSONExtract) -> exp.Expr | None:
    """Return a path with a wildcard, and one that is put together, '$.same."' || key || '"': Spark quotes a key as ['key']."""
    if isinstance(node.expression, exp.JSONPath):
        path = node.expression.sql("duckdb")[1:-1]
        return call("get_json_object", node.this, path) if "*" in path else None
    parts = [
        constant(re.sub(r'\."$', "['", part.name).replace('"', "']"))
        if isinstance(part, exp.Literal)
        else part
        for part in node.expression.flatten()
    ]
    return call("get_json_object", node.this, call("concat", *parts))


def _from_json(content: exp.Expr, shape: exp.Expr) -> exp.Expr:
    example = "".join(part.name for part in shape.flatten()) if isinstance(shape, exp.DPipe) else shape.name
    return call("from_json", content, _schema(json.loads(example)))


def _schema(shape: object) -> str:
    """Return the type that an example describes to DuckDB's from_json, in Spark's spelling."""
    if isinstance(shape, list):
        return f"array<{_schema(shape[0])}>"
    if isinstance(shape, dict):
        return f"struct<{', '.join(f'`{name}`: {_schema(one)}' for name, one in shape.items())}>"
    kind = exp.DataType.build(str(shape), dialect=DuckDB).transform(
        lambda node: (
            exp.DataType.build("text") if isinstance(node, exp.DataType) and node.is_type("json") else node
        )
    )
    return kind.sql(Spark4)


def _cast(node: exp.Cast) -> exp.Expr | None:
    if node.to.is_type("array", "struct") and isinstance(node.this, exp.Literal) and node.this.is_string:
        # DuckDB parses a text that holds a list: Spark has no such cast.
        with duckdb.connect() as connection:
            statement = f"select cast(to_json(cast(? as {node.to.sql('duckdb')})) as varchar)"
            ((said,),) = connection.execute(statement, [node.this.name]).fetchall()
        return call("from_json", said, node.to.sql(Spark4))
    if node.to.is_type("array") and isinstance(node.this, (exp.JSONExtract, exp.JSONExtractScalar)):
        return call("from_json", node.this, node.to.sql(Spark4))
    return None


def _try_cast(node: exp.TryCast) -> exp.Expr | None:
    if node.to.is_type("json") or node.to.is_type("text"):
        return template("if(json_valid(_text), _text, null)", _text=node.this)
    return None


# --- texts --------------------------------------------------------------------------------------------------------------------


@cache
def _replaced(function: str) -> tuple[str, str]:
    """Characters that a function of DuckDB replaces by one other, and these; behind them those that it takes out."""
    codes = " union all ".join(f"from range({start}, {stop})" for start, stop in _CODES)
    with duckdb.connect() as connection:
        rows = connection.execute(
            f"select chr(range::integer) as one, {function}(one) as other from ({codes}) where one <> other "
            "order by other = '', one"
        ).fetchall()
    return "".join(one for one, _ in rows), "".join(other for _, other in rows)


def _strip_accents(text: exp.Expr) -> exp.Expr:
    """Remove marks and compose the rest, which only matters for Korean."""
    stripped = call("translate", text, *_replaced("strip_accents"))
    return template(
        "get(transform(array(_text), _bare -> if(rlike(_bare, _apart), "
        "array_join(transform(regexp_extract_all(_bare, _pieces, 0), _piece -> case "
        "when length(_piece) = 1 or (_piece >= '가' and _piece <= '힣' and (ascii(_piece) - 44032) % 28 > 0) then _piece "
        "else decode(unhex(hex(if(_piece >= '가', ascii(_piece), "
        "44032 + ((ascii(_piece) - 4352) * 21 + ascii(substr(_piece, 2)) - 4449) * 28) "
        "+ if(_piece >= '가' or length(_piece) = 3, ascii(right(_piece, 1)) - 4519, 0))), 'UTF-16BE') end), ''), "
        "_bare)), 0)",
        _text=stripped,
        _apart=constant(_JAMO),
        _pieces=constant(rf"(?s){_JAMO}|."),
    )


def _lower(node: exp.Lower) -> exp.Expr:
    # Java lowers a final sigma to another letter and a dotted capital I to two; DuckDB goes letter by letter.
    return call("lower", call("translate", node.this, "İΣ", "iσ"))


def _upper(node: exp.Upper) -> exp.Expr:
    # Java makes two letters of some.
    return call("translate", node.this, *_replaced("upper"))


def _trim(node: exp.Trim) -> exp.Expr | None:
    # DuckDB takes every space of Unicode off, Spark blanks alone.
    if node.expression or node.args.get("position"):
        return None
    return call("regexp_replace", node.this, r"^\p{Zs}+|\p{Zs}+\z", "")


def _pattern(node: exp.Expr) -> exp.Expr | None:
    if node.meta.get("is_java"):
        return None
    node.set("expression", _java(node.expression))
    node.meta["is_java"] = True
    if isinstance(node, exp.RegexpReplace):
        # A replacement names groups by $1 in Java, \1 in RE2.
        put_in = node.args["replacement"].name.replace("$", r"\$")
        node.set("replacement", constant(re.sub(r"\\(\d)", r"$\1", put_in)))
        flags, pattern = node.args.get("modifiers"), node.expression.name
        if "g" not in (flags.name if flags else "") and not (
            pattern.startswith("^") or pattern.endswith(r"\z")
        ):
            raise UnsupportedError("regexp_replace of the first match alone")
    return None


def _java(pattern: exp.Expr) -> exp.Expr:
    if not (isinstance(pattern, exp.Literal) and pattern.is_string):
        raise UnsupportedError(f"a pattern that is no constant, {pattern.sql('duckdb')}")
    return constant(java_pattern(pattern.name))


def _moment_as_text(node: exp.TimeToStr) -> exp.Expr:
    form = "".join(
        _DATE_PARTS.get(part) or (f"'{part}'" if part else "")
        for part in re.split(r"(%[YmdHMS])", node.args["format"].name)
    )
    return call("date_format", node.this, form)


# --- lists --------------------------------------------------------------------------------------------------------------------


def _index(node: exp.Bracket) -> exp.Expr | None:
    """x[i] is null outside of x in DuckDB, an error in Spark; sqlglot counts constants from 0, and negative ones wrongly."""
    [index] = node.expressions
    if isinstance(index, exp.Slice):
        return _slice(node.this, index)
    if isinstance(index, exp.Literal):
        return None if index.is_string else call("get", node.this, index)
    if isinstance(index, exp.Neg) and isinstance(index.this, exp.Literal):
        return call("try_element_at", node.this, exp.Literal.number(-(int(index.this.name) - 1) or -1))
    return template("get(_list, cast(_index - 1 as int))", _list=node.this, _index=exp.paren(index))


def _slice(of: exp.Expr, part: exp.Slice) -> exp.Expr:
    return _part_of_list(of, part.this or constant(1), part.expression)


def _part_of_list(of: exp.Expr, start: exp.Expr, stop: exp.Expr | None) -> exp.Expr:
    """Return a part of a list by its first and last place; Spark's slice takes the first place and a length."""
    if stop is None:
        return call("slice", of, start, 2**31 - 1)
    if isinstance(stop, exp.Neg):
        return template(
            "slice(_list, _start, greatest(size(_list) - _stop + 1, 0))",
            _list=of,
            _start=start,
            _stop=stop.this,
        )
    if start == constant(1):
        return call("slice", of, start, stop)
    return template(
        "slice(_list, _start, greatest(_stop - _start + 1, 0))",
        _list=of,
        _start=exp.paren(start),
        _stop=exp.paren(stop),
    )


def _transform(node: exp.Transform) -> None:
    """Shift the index in list_transform, which counts from 1 in DuckDB and from 0 in Spark."""
    function = node.expression
    if len(function.expressions) == 2:
        place = function.expressions[1].name
        for found in list(function.this.find_all(exp.Identifier)):
            named = found.parent if isinstance(found.parent, exp.Column) else found
            if found.name == place and not (isinstance(named, exp.Column) and named.table):
                named.replace(exp.paren(exp.Add(this=named.copy(), expression=constant(1))))


def _histogram(of: exp.Expr) -> exp.Expr:
    """Return how often each value is there: by the places in the sorted list where another one begins, as counting each by itself
    would take the square of the list's length. A lambda's argument is what is computed once."""
    return template(
        "get(transform(array(array_sort(array_compact(_list))), _sorted -> get(transform(array("
        "filter(sequence(0, size(_sorted)), _place -> _place < size(_sorted) "
        "and (_place = 0 or get(_sorted, _place) <> get(_sorted, _place - 1)))), "
        "_firsts -> map_from_entries(transform(_firsts, (_first, _number) -> struct(get(_sorted, _first), "
        "cast(coalesce(get(_firsts, _number + 1), size(_sorted)) - _first as bigint))))), 0)), 0)",
        _list=of,
    )


# --- numbers and keys ---------------------------------------------------------------------------------------------------------


def _divided(node: exp.Div) -> exp.Expr | None:
    """Divide as DuckDB does: division by zero gives infinity or NaN (IEEE 754), where Spark raises an error."""
    if _is_not_zero(node.expression):
        return None
    return template(
        "coalesce(try_divide(_one, _other), _one * pow(_other, -1))", _one=node.this, _other=node.expression
    )


def _is_not_zero(divisor: exp.Expr) -> bool:
    match divisor:
        case exp.Literal():
            return float(divisor.name) != 0
        case exp.Nullif():
            return str(divisor.expression.name) == "0"
        case exp.Paren() | exp.Sqrt() | exp.Neg():
            return _is_not_zero(divisor.this)
        case exp.Mul():
            return _is_not_zero(divisor.this) and _is_not_zero(divisor.expression)
        case exp.Greatest():
            return any(isinstance(one, exp.Literal) and float(one.name) > 0 for one in divisor.expressions)
    return False


def _logarithm(node: exp.Ln | exp.Log) -> exp.Expr | None:
    """Return -infinity for the logarithm of 0 and NaN below; Spark returns null."""
    of = node.expression if isinstance(node, exp.Log) else node.this
    if of is None:
        raise UnsupportedError("log, whose base the engines do not agree on: ln, log2 or log10")
    if isinstance(of, exp.Literal) and float(of.name) > 0:
        return None
    return template(
        "coalesce(_logarithm, case when _of = 0 then double('-infinity') when _of < 0 then double('nan') end)",
        _logarithm=node.copy(),
        _of=of,
    )


def _number_of_md5(text: exp.Expr) -> exp.Expr:
    """Return the last 64 bits of the digest, the first byte the lowest, as DuckDB's md5_number_lower."""
    pairs = ", ".join(f"substr(_digest, {place}, 2)" for place in range(31, 16, -2))
    return template(f"cast(conv(concat({pairs}), 16, 10) as decimal(20, 0))", _digest=exp.MD5(this=text))


def _hash(*values: exp.Expr) -> exp.Expr:
    """Return a different hash than DuckDB's: it only identifies a measure's inputs. Nulls count."""
    return call("xxhash64", *(one for value in values for one in (value, call("isnull", value.copy()))))


def _aggregate_of_list(x: exp.Expr, aggregate: exp.Expr, *options: exp.Expr) -> exp.Expr:
    """Return texts joined, '' of no texts where DuckDB gives null: to ask for its size, the list would be made twice."""
    if aggregate.name != "string_agg" or len(options) != 1:
        raise UnsupportedError(f"list_aggregate of {aggregate.name}")
    return call("array_join", x, *options)


def _row_as_json(row: exp.Expr) -> exp.Expr:
    if isinstance(row, exp.Column) and not row.table:
        row = call("struct", exp.Column(this=exp.Star(), table=row.this))
    return template("to_json(_row, map('ignoreNullFields', 'false'))", _row=row)


def _arg_max(node: exp.ArgMax) -> exp.Expr | None:
    return call("max_by", node.this, node.expression, node.args["count"]) if node.args.get("count") else None


def _tuple(node: exp.Tuple) -> exp.Expr | None:
    select = node.parent
    if isinstance(select, exp.Select) and isinstance(select.find_ancestor(exp.In, exp.Select), exp.In):
        # Spark's `in` with a subquery takes columns, not one row.
        select.set("expressions", node.expressions)
        return None
    return None if isinstance(node.parent, (exp.In, exp.Values)) else call("struct", *node.expressions)


def _type(node: exp.DataType) -> exp.Expr | None:
    new = _TYPES.get(node.this)
    return new.copy() if new else None


def _not_materialized(node: exp.CTE) -> None:
    node.set("materialized", None)


_OWN: Mapping[str, Callable[..., exp.Expr]] = {
    "from_json": _from_json,
    "hash": _hash,
    "isfinite": lambda x: template("not isnan(_x) and abs(_x) < double('infinity')", _x=x),
    "json_array_length": lambda x, *path: call(
        "json_array_length", call("get_json_object", x, *path) if path else x
    ),
    "json_exists": lambda x, path: template("get_json_object(_x, _path) is not null", _x=x, _path=path),
    "json_keys": lambda x: call("json_object_keys", x),
    "len": lambda x: call("size", x),
    "list_has_all": lambda one, other: template(
        "size(array_except(_other, _one)) = 0", _one=one, _other=other
    ),
    "list_aggregate": _aggregate_of_list,
    # A function of SQL cannot be called in a lambda: these are written out.
    "list_histogram": _histogram,
    "list_intersect": lambda one, other: call("array_intersect", one, other),
    "list_position": lambda x, value: call("nullif", call("array_position", x, value), 0),
    "list_slice": _part_of_list,
    "list_reduce": lambda x, step, start: call("aggregate", x, start, step),
    "list_sum": lambda x: template(
        "aggregate(_x, cast(null as bigint), (_sum, _one) -> coalesce(_sum, 0) + _one)", _x=x
    ),
    "md5_number_lower": _number_of_md5,
    "printf": lambda *values: call("c_printf", *values),
    "regexp_split_to_array": lambda x, pattern: call("split", x, _java(pattern)),
    "strip_accents": _strip_accents,
    "to_json": _row_as_json,
}


def _own(node: exp.Anonymous) -> exp.Expr | None:
    made = node.meta.get("is_spark")
    build = None if made else _OWN.get(node.name.lower())
    if build is None:
        return None
    try:
        new = build(*node.expressions)
    except TypeError:
        raise UnsupportedError(f"{node.name} with {len(node.expressions)} arguments") from None
    new.meta["is_spark"] = True
    return new


FUNCTIONS: Mapping[type[exp.Expr], Callable[..., exp.Expr | None]] = {
    exp.Anonymous: _own,
    exp.ArgMax: _arg_max,
    exp.ArrayOverlaps: lambda node: call("arrays_overlap", node.this, node.expression),
    exp.ArraySort: lambda node: call("array_sort", node.this),
    exp.Bracket: _index,
    exp.CTE: _not_materialized,
    exp.Cast: _cast,
    exp.DataType: _type,
    exp.Div: _divided,
    exp.JSONExtract: _made_path,
    exp.Lambda: _arrow_in_a_call,
    exp.Ln: _logarithm,
    exp.Log: _logarithm,
    exp.Lower: _lower,
    exp.RegexpExtract: _pattern,
    exp.RegexpExtractAll: _pattern,
    exp.RegexpLike: _pattern,
    exp.RegexpReplace: _pattern,
    exp.TimeToStr: _moment_as_text,
    exp.Transform: _transform,
    exp.Trim: _trim,
    exp.TryCast: _try_cast,
    exp.Tuple: _tuple,
    exp.Upper: _upper,
}
