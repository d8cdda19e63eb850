"""Holds what the server takes against its document, for schemathesis: a body that fits the schema is not refused for its
form, and one that does not fit is refused."""

import jsonschema_rs
import schemathesis

# No schema counts bytes, or knows how many digits a number may have that is only passed on.
BEYOND = {"field.too_many_bytes"}
KEPT = "this number cannot be stored exactly"
FORM = "multipart/form-data"
NOTHING = object()
validators = {}


def as_sent(case):
    """The body as it stands on the wire, or nothing if it cannot be told: in a form every value is text."""
    if case.media_type == "application/json":
        # What is not there, or no JSON, is no question of the schema.
        return case.body if isinstance(case.body, (dict, list, str, int, float, bool, type(None))) else NOTHING
    if not isinstance(case.body, dict):
        return NOTHING
    form = {}
    for name, value in case.body.items():
        # What stands for a file is a text of its own kind, with the bytes beside it.
        value = getattr(value, "data", value)
        if isinstance(value, bytes):
            form[name] = value.decode("latin-1")
        elif isinstance(value, str):
            form[name] = str(value)
        else:
            return NOTHING
    return form


def fits(case, body):
    """Whether a body fits the schema of its operation."""
    operation = case.operation
    key = (operation.label, case.media_type)
    if key not in validators:
        document = operation.schema.raw_schema
        content = document["paths"][operation.path][operation.method.lower()]["requestBody"]["content"]
        schema = {"allOf": [content[case.media_type]["schema"]], "components": document["components"]}
        validators[key] = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)
    return validators[key].is_valid(body)


@schemathesis.check
def agreement(ctx, response, case):
    if case.method != case.operation.method.upper() or case.media_type not in ("application/json", FORM):
        return
    body = as_sent(case)
    # Only a body that arrived as what it is says something about the body.
    if body is NOTHING or not response.request.headers.get("Content-Type", "").startswith(case.media_type):
        return
    if not fits(case, body):
        assert response.status_code >= 300, f"taken, though it does not fit the schema: {body!r}"
    elif response.status_code in (400, 413, 415, 422):
        if response.status_code == 400 and KEPT in response.text:
            return
        codes = [(error["field"], error["code"]) for error in response.json().get("errors", [])]
        form = [one for one in codes if one[1].startswith(("field.", "body.")) and one[1] not in BEYOND]
        assert codes and not form, f"refused for its form, though it fits the schema: {form or response.text}"
