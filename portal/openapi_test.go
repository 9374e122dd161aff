package portal

import (
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// document is what the tests read of the description.
type document struct {
	OpenAPI    string
	Paths      map[string]map[string]operation
	Components struct {
		Schemas   map[string]any
		Responses map[string]any
	}
}

type operation struct {
	OperationID string
	Parameters  []struct{ Name, In string }
	RequestBody *struct{ Content map[string]any }
	Responses   map[string]struct {
		Ref     string `json:"$ref"`
		Content map[string]struct{ Schema map[string]any }
	}
	Security []map[string]any
}

// TestDescriptionIsThatOfTheTable: every route, method, parameter, status and
// schema, and no other.
func TestDescriptionIsThatOfTheTable(t *testing.T) {
	file, err := os.ReadFile("openapi.json")
	if err != nil || string(file) != string(OpenAPI()) {
		t.Fatalf("openapi.json differs from the table of routes: run make docs (%v)", err)
	}
	var doc document
	if err := json.Unmarshal(file, &doc); err != nil || doc.OpenAPI != "3.1.0" {
		t.Fatal(err, doc.OpenAPI)
	}
	described, ids := 0, map[string]bool{}
	for _, methods := range doc.Paths {
		described += len(methods)
	}
	if rows := routes(); described != len(rows) {
		t.Errorf("%d operations are described, the table has %d", described, len(rows))
	}
	for _, row := range routes() {
		op, ok := doc.Paths[row.path][strings.ToLower(row.method)]
		if !ok || ids[op.OperationID] {
			t.Errorf("%s %s is missing, or %q is a name of two", row.method, row.path, op.OperationID)
		}
		ids[op.OperationID] = true
		if (op.RequestBody != nil) != (row.body != nil) || len(op.Security) == 0 && row.needs >= look {
			t.Errorf("%s %s: body or security differ", row.method, row.path)
		}
		var names []string
		for _, p := range op.Parameters {
			if p.In == "query" {
				names = append(names, p.Name)
			}
		}
		for i, p := range row.params {
			if i >= len(names) || names[i] != p.name {
				t.Errorf("%s %s: parameters %q", row.method, row.path, names)
				break
			}
		}
		for _, code := range row.statuses() {
			if _, ok := op.Responses[strconv.Itoa(code)]; !ok {
				t.Errorf("%s %s: %d is not described", row.method, row.path, code)
			}
		}
	}
	refs(t, file, doc)
}

// refs wants every reference to lead somewhere, and every schema to be used.
func refs(t *testing.T, file []byte, doc document) {
	t.Helper()
	used := map[string]bool{}
	for _, part := range strings.Split(string(file), `"$ref": "#/components/`)[1:] {
		name, _, _ := strings.Cut(part, `"`)
		used[name] = true
		kind, name, _ := strings.Cut(name, "/")
		if kind == "schemas" && doc.Components.Schemas[name] == nil || kind == "responses" && doc.Components.Responses[name] == nil {
			t.Errorf("%s/%s is referred to and not there", kind, name)
		}
	}
	for name := range doc.Components.Schemas {
		if !used["schemas/"+name] {
			t.Errorf("schema %s is not used", name)
		}
	}
	if len(used) < 20 {
		t.Errorf("only %d references: this test sees nothing", len(used))
	}
}

// conforms holds an answer against a schema, as far as the description goes.
func conforms(doc *document, at string, schema map[string]any, value any) (problems []string) {
	if ref, ok := schema["$ref"].(string); ok {
		schema = doc.Components.Schemas[strings.TrimPrefix(ref, "#/components/schemas/")].(map[string]any)
	}
	if either, ok := schema["anyOf"].([]any); ok && value != nil {
		schema = either[0].(map[string]any)
		return conforms(doc, at, schema, value)
	}
	kinds, _ := schema["type"].([]any)
	if kind, ok := schema["type"].(string); ok {
		kinds = []any{kind}
	}
	if len(kinds) > 0 && !slices.Contains(kinds, any(kindOf(value))) && !(kindOf(value) == "integer" && slices.Contains(kinds, any("number"))) {
		return []string{at + ": " + kindOf(value) + " where the description has " + kinds[0].(string)}
	}
	switch v := value.(type) {
	case []any:
		items, _ := schema["items"].(map[string]any)
		for i, item := range v {
			problems = append(problems, conforms(doc, at+"["+strconv.Itoa(i)+"]", items, item)...)
		}
	case map[string]any:
		properties, _ := schema["properties"].(map[string]any)
		required, _ := schema["required"].([]any)
		for _, name := range required {
			if _, ok := v[name.(string)]; !ok {
				problems = append(problems, at+" lacks "+name.(string))
			}
		}
		more, _ := schema["additionalProperties"].(map[string]any)
		for name, part := range v {
			of, ok := properties[name].(map[string]any)
			if !ok && more == nil && len(properties) > 0 {
				problems = append(problems, at+" has "+name+", which is not described")
				continue
			}
			if !ok {
				of = more
			}
			problems = append(problems, conforms(doc, at+"."+name, of, part)...)
		}
	}
	return problems
}

func kindOf(v any) string {
	switch n := v.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case bool:
		return "boolean"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	case float64:
		if n == float64(int64(n)) {
			return "integer"
		}
	}
	return "number"
}

// holdTo wants an answer to be as the description has it.
func holdTo(t *testing.T, doc *document, method, target string, status int, body []byte) {
	t.Helper()
	path, _, _ := strings.Cut(target, "?")
	op, ok := doc.Paths[path][strings.ToLower(method)]
	if !ok {
		t.Errorf("%s %s is not described", method, path)
		return
	}
	response, ok := op.Responses[strconv.Itoa(status)]
	if !ok {
		t.Errorf("%s %s: status %d is not described", method, target, status)
		return
	}
	schema := response.Content["application/json"].Schema
	if response.Ref != "" {
		schema = map[string]any{"$ref": "#/components/schemas/Failure"}
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		t.Errorf("%s %s: %s is no JSON: %v", method, target, body, err)
		return
	}
	for _, problem := range conforms(doc, "answer", schema, value) {
		t.Errorf("%s %s: %d: %s", method, target, status, problem)
	}
}

func TestConformsSeesViolations(t *testing.T) {
	var doc document
	if err := json.Unmarshal(OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	schema := map[string]any{"$ref": "#/components/schemas/Promoted"}
	for text, want := range map[string]int{
		`{"promoted":"x","position":1}`: 0, `{"promoted":"x"}`: 1, `{"promoted":1,"position":"x"}`: 2,
		`{"promoted":"x","position":1,"more":1}`: 1, `[]`: 1, `null`: 1, `{"promoted":"x","position":1.5}`: 1,
	} {
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		if got := conforms(&doc, "answer", schema, value); len(got) != want {
			t.Errorf("%s: %q, want %d", text, got, want)
		}
	}
}
