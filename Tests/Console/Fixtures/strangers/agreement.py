"""Holds what the server takes against its document, for schemathesis: a body that fits the schema is not refused for its
form, and one that does not fit is refused."""

import jsonschema_rs
import schemathesis

# No schema counts bytes, or knows how many digits a number may have that is only passed on.
BEYOND = {"field.too_many_bytes"}
KEPT = "this number cannot be kept as it is"
validators = {}


def fits(case):
    """Whether the JSON body fits the schema of its operation."""
    operation = case.operation
    if operation.label not in validators:
        document = operation.schema.raw_schema
        content = document["paths"][operation.path][operation.method.lower()]["requestBody"]["content"]
        schema = {"allOf": [content["application/json"]["schema"]], "components": document["components"]}
        validators[operation.label] = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)
    return validators[operation.label].is_valid(case.body)


@schemathesis.check
def agreement(ctx, response, case):
    if case.method != case.operation.method.upper() or case.media_type != "application/json":
        return
    # What is not there, or no JSON, is no question of the schema.
    if not isinstance(case.body, (dict, list, str, int, float, bool, type(None))):
        return
    # Only a body that arrived as JSON says something about the body.
    if not response.request.headers.get("Content-Type", "").startswith("application/json"):
        return
    if not fits(case):
        assert response.status_code >= 300, f"taken, though it does not fit the schema: {case.body!r}"
    elif response.status_code in (400, 413, 415, 422):
        if response.status_code == 400 and KEPT in response.text:
            return
        codes = [(error["field"], error["code"]) for error in response.json().get("errors", [])]
        form = [one for one in codes if one[1].startswith(("field.", "body.")) and one[1] not in BEYOND]
        assert codes and not form, f"refused for its form, though it fits the schema: {form or response.text}"
