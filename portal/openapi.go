package portal

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// description is openapi.json, as OpenAPI wrote it.
//
//go:embed openapi.json
var description []byte

// openAPI serves the description.
func openAPI(r *request) error {
	r.send(http.StatusOK, "application/json; charset=utf-8", description)
	return nil
}

// object is a JSON object.
type object = map[string]any

// OpenAPI describes the routes of the table, in OpenAPI 3.1: it is
// portal/openapi.json, which a test holds against it.
func OpenAPI() []byte {
	d := describer{schemas: object{}, failures: object{}}
	paths := object{}
	for _, row := range routes() {
		if paths[row.path] == nil {
			paths[row.path] = object{}
		}
		paths[row.path].(object)[strings.ToLower(row.method)] = d.operation(&row)
	}
	text, err := json.MarshalIndent(object{
		"openapi": "3.1.0",
		"info": object{
			"title": "Concert operator portal", "version": "1",
			"description": "Served on -portal-listen to addresses in -portal-allow. Authorize with the admin token, or with the cookie of a session and, where something changes, its token in X-CSRF-Token.",
		},
		"paths": paths,
		"components": object{
			"schemas":   d.schemas,
			"responses": d.failures,
			"securitySchemes": object{
				"token":   object{"type": "http", "scheme": "bearer"},
				"session": object{"type": "apiKey", "in": "cookie", "name": cookieName},
				"csrf":    object{"type": "apiKey", "in": "header", "name": csrfHeader},
			},
		},
	}, "", "  ")
	if err != nil {
		panic("BUG: portal: the description is no JSON: " + err.Error())
	}
	return append(text, '\n')
}

// describer collects the schemas that operations name.
type describer struct{ schemas, failures object }

func (d *describer) operation(row *route) object {
	op := object{"summary": row.summary, "operationId": operationID(row), "responses": d.responses(row)}
	params := []any{}
	for _, p := range row.params {
		params = append(params, object{"name": p.name, "in": "query", "description": p.text, "required": p.required, "schema": object{"type": "string"}})
	}
	if row.path == assetPath {
		params = append(params, object{"name": "path", "in": "path", "required": true, "schema": object{"type": "string"}})
	}
	if len(params) > 0 {
		op["parameters"] = params
	}
	if row.body != nil {
		op["requestBody"] = object{"required": true, "content": object{"application/json": object{"schema": d.schema(reflect.TypeOf(row.body))}}}
	}
	switch row.needs {
	case look:
		op["security"] = []any{object{"token": []any{}}, object{"session": []any{}}}
	case change:
		op["security"] = []any{object{"token": []any{}}, object{"session": []any{}, "csrf": []any{}}}
	}
	return op
}

// operationID names an operation: get_api_queue_find.
func operationID(row *route) string {
	words := strings.FieldsFunc(row.path, func(r rune) bool { return !('a' <= r && r <= 'z' || '0' <= r && r <= '9') })
	return strings.Join(append([]string{strings.ToLower(row.method)}, words...), "_")
}

// statuses are all that a route answers with, by its needs and its own.
func (row *route) statuses() []int {
	codes := append([]int{}, row.fails...)
	switch {
	case row.path == "/login", row.path == "/logout":
		codes = append(codes, http.StatusSeeOther, http.StatusBadRequest)
	default:
		codes = append(codes, http.StatusOK)
	}
	if strings.HasPrefix(row.path, "/api/") {
		codes = append(codes, http.StatusBadRequest, http.StatusUnauthorized, http.StatusTooManyRequests)
	} else if row.needs == look && row.path != "/" {
		codes = append(codes, http.StatusSeeOther)
	}
	if row.body != nil {
		codes = append(codes, http.StatusRequestEntityTooLarge)
	}
	codes = append(codes, http.StatusForbidden, http.StatusMisdirectedRequest)
	slices.Sort(codes)
	return slices.Compact(codes)
}

func (d *describer) responses(row *route) object {
	out := object{}
	for _, code := range row.statuses() {
		name := strconv.Itoa(code)
		if code >= 400 && strings.HasPrefix(row.path, "/api/") && code != http.StatusMisdirectedRequest {
			d.failures[name] = object{"description": http.StatusText(code), "content": object{"application/json": object{"schema": d.ref(reflect.TypeFor[Failure]())}}}
			out[name] = object{"$ref": "#/components/responses/" + name}
			continue
		}
		r := object{"description": http.StatusText(code)}
		switch {
		case code == http.StatusOK && row.answer != nil:
			r["content"] = object{"application/json": object{"schema": d.schema(reflect.TypeOf(row.answer))}}
		case code == http.StatusOK && row.path != assetPath:
			r["content"] = object{"text/html": object{}}
		}
		out[name] = r
	}
	return out
}

// schema describes a type as encoding/json writes it.
func (d *describer) schema(t reflect.Type) object {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[json.RawMessage]():
		return object{}
	case t == reflect.TypeFor[json.Number]():
		return object{"type": "number"}
	case t == reflect.TypeFor[netip.Prefix](), t == reflect.TypeFor[netip.Addr]():
		return object{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		s := maps.Clone(d.schema(t.Elem()))
		if kind, ok := s["type"].(string); ok {
			s["type"] = []any{kind, "null"}
			return s
		}
		return object{"anyOf": []any{s, object{"type": "null"}}}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice:
		return object{"type": "array", "items": d.schema(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": d.schema(t.Elem())}
	case reflect.Interface:
		return object{}
	case reflect.Struct:
		return d.ref(t)
	}
	if t.ConvertibleTo(reflect.TypeFor[int64]()) {
		return object{"type": "integer"}
	}
	panic(fmt.Sprintf("BUG: portal: no schema for %v", t))
}

// ref describes a struct once, and refers to that.
func (d *describer) ref(t reflect.Type) object {
	name := t.Name()
	if strings.HasSuffix(t.PkgPath(), "/view") && name != "Series" && name != "Fragment" && name != "Edited" && name != "BanPreview" {
		name = "View" + name
	}
	if d.schemas[name] == nil {
		s := object{"type": "object"}
		d.schemas[name] = s // before its fields, which may lead back here
		properties, required := object{}, []string{}
		d.fields(t, properties, &required)
		s["properties"] = properties
		if slices.Sort(required); len(required) > 0 {
			s["required"] = required
		}
	}
	return object{"$ref": "#/components/schemas/" + name}
}

// fields adds those of a struct, with what it embeds.
func (d *describer) fields(t reflect.Type, properties object, required *[]string) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Pointer:
			var none []string // left out as a whole
			d.fields(f.Type.Elem(), properties, &none)
			continue
		case f.Anonymous && name == "":
			d.fields(f.Type, properties, required)
			continue
		case name == "-" || !f.IsExported():
			continue
		case name == "":
			name = f.Name
		}
		if properties[name] == nil { // an outer field hides an inner one
			properties[name] = d.schema(f.Type)
			if options == "" {
				*required = append(*required, name)
			}
		}
	}
}
