#!/usr/bin/env bash
# Walks through an off-site room from end to end: join, wait, be admitted, get a
# token, enter the site, look at the figures. It uses the compose stack if that
# is up (make up), and otherwise starts the same parts as processes, which end
# with it; it needs curl then, nginx for the edge and Redis for two instances.
set -euo pipefail
cd "$(dirname "$0")"

edge_port=${EDGE_PORT:-8088} admin_port=${ADMIN_PORT:-8081} target_port=${TARGET_PORT:-8089} gate_port=${GATE_PORT:-8090} second_port=${SECOND_PORT:-8091} redis_port=${REDIS_PORT:-6390}
edge=http://localhost:$edge_port admin=http://localhost:$admin_port/api/v1/admin target=http://localhost:$target_port
room=demo
secrets=secrets

say() { printf '\n== %s\n' "$*"; }
# field NAME takes a text or number out of a JSON object on one line.
field() { sed -n "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p"; }
fail() { echo "demo: $*" >&2; exit 1; }

started=()
scratch=
clean() {
	local pid
	for pid in "${started[@]}"; do kill "$pid" 2>/dev/null || true; done
	for pid in "${started[@]}"; do wait "$pid" 2>/dev/null || true; done
	[ -z "$scratch" ] || rm -rf "$scratch"
}
trap clean EXIT

# answers URL waits until something answers there.
answers() {
	for _ in $(seq 200); do
		curl -fsS -o /dev/null "$1" 2>/dev/null && return
		sleep 0.1
	done
	fail "nothing answers at $1: $(cat "$scratch"/*.log 2>/dev/null)"
}

start_processes() {
	local concert=${CONCERT:-} nginx
	scratch=$(mktemp -d)
	if [ -z "$concert" ]; then
		(cd ../.. && go build -o "$scratch/concert" ./cmd/concert)
		concert=$scratch/concert
	fi
	secrets=$scratch/secrets
	"$concert" keys secrets "$secrets" >/dev/null
	nginx=$(PATH=$PATH:/usr/sbin command -v nginx) || { echo "no nginx here: the walk goes on without the edge"; gate_port=$edge_port; }
	local shared=() second=
	if command -v redis-server >/dev/null; then
		redis-server "$secrets/redis.conf" --bind 127.0.0.1 --port "$redis_port" --dir "$scratch" --appendonly yes --maxmemory-policy noeviction >"$scratch/redis.log" &
		started+=($!)
		shared=("CONCERT_REDIS_URL=redis://:$(cat "$secrets/redis_password")@127.0.0.1:$redis_port/0")
		second=$second_port
	else
		echo "no Redis here: one instance has the rooms by itself"
	fi
	for port in $gate_port $second; do
		# shellcheck disable=SC2046 # each line is a word
		env $(grep -v REDIS "$secrets/concert.env") "${shared[@]}" "$concert" gate -data-dir "" -gate-keys "$secrets/signing_keys.json" \
			-gate-listen "127.0.0.1:$port" -gate-admin-listen "127.0.0.1:$admin_port" 2>"$scratch/concert-$port.log" &
		started+=($!)
		answers "http://127.0.0.1:$port/_room/readyz"
		admin_port=0 # of the second one nobody needs to know
	done
	if [ -n "$nginx" ]; then
		sed -e "s/listen 8080/listen 127.0.0.1:$edge_port/" -e "s/server concert-1:8088/server 127.0.0.1:$gate_port/" \
			-e "${second:+s/server concert-2:8088/server 127.0.0.1:$second/}" -e "/server concert-2:8088/d" \
			-e "s|pid /tmp/nginx.pid|pid $scratch/nginx.pid|" -e "s|access_log off;|access_log off; client_body_temp_path $scratch/a; proxy_temp_path $scratch/b; fastcgi_temp_path $scratch/c; uwsgi_temp_path $scratch/d; scgi_temp_path $scratch/e;|" \
			edge.conf >"$scratch/edge.conf"
		"$nginx" -p "$scratch" -c "$scratch/edge.conf" -g "daemon off; error_log $scratch/edge.log;" &
		started+=($!)
		answers "http://127.0.0.1:$edge_port/healthz"
	fi
	# shellcheck disable=SC2046 # each line is a word
	env $(cat "$secrets/target.env") WAITING_ROOM_URL="$edge" GATE_ROOM=$room TOKEN_AUDIENCE=$room \
		JWKS_URL="http://127.0.0.1:$gate_port/.well-known/jwks.json" VALIDATE_URL="http://127.0.0.1:$gate_port/api/v1/validate" \
		"$concert" target-demo -listen "127.0.0.1:$target_port" 2>"$scratch/target.log" &
	started+=($!)
	answers "$target/healthz"
}

if curl -fsS -o /dev/null "$edge/.well-known/jwks.json" 2>/dev/null; then
	say "using the stack at $edge"
	[ -r "$secrets/admin_token" ] || fail "$secrets/admin_token is missing: make keys made it"
else
	say "starting Concert, the edge and the site as processes"
	start_processes
fi
token=$(cat "$secrets/admin_token")
operate() { curl -fsS -H "Authorization: Bearer $token" -H 'Content-Type: application/json' "$@"; }

say "an operator makes the room: one visitor per 3 seconds"
operate -X DELETE "$admin/rooms/$room" 2>/dev/null || true
operate -d "{\"id\":\"$room\",\"name\":\"Demo\",\"inflow\":1,\"interval\":\"3s\",\"burst\":1,\"target_url\":\"$target\"}" "$admin/rooms"
operate -d '{"text":"Did you know? This is a demonstration."}' "$admin/rooms/$room/messages"

say "a visitor without a token asks for $target/products/42"
curl -sS -o /dev/null -w '%{http_code} to %{redirect_url}\n' "$target/products/42"

say "three visitors join; ours is the last"
for _ in 1 2 3; do
	joined=$(curl -fsS -H 'Content-Type: application/json' -d "{\"room\":\"$room\"}" "$edge/api/v1/queue/join")
done
queue_token=$(field queue_token <<<"$joined")
echo "ticket $(field ticket <<<"$joined")"

say "waiting; each answer brings the next token"
for _ in $(seq 60); do
	status=$(curl -fsS -H "Authorization: Bearer $queue_token" "$edge/api/v1/queue/status")
	used=$queue_token
	queue_token=$(field queue_token <<<"$status")
	[ "$(field admitted <<<"$status")" = true ] && break
	echo "position $(field position <<<"$status"), about $(field eta_sec <<<"$status") s"
	sleep "$(field poll_after_sec <<<"$status")"
done
[ "$(field admitted <<<"$status")" = true ] || fail "never admitted: $status"
echo "admitted"

say "the ticket is exchanged for an access token"
grant=$(curl -fsS -H "Authorization: Bearer $queue_token" -H 'Content-Type: application/json' -d '{"return":"/products/42"}' "$edge/api/v1/queue/token")
there=$(field redirect_url <<<"$grant")
echo "sent to ${there%%token=*}token=…"

say "the site takes the token once, and then goes by its cookie"
jar=$(mktemp)
curl -sS -c "$jar" -o /dev/null -w '%{http_code} to %{redirect_url}\n' "$there"
curl -fsS -b "$jar" "$target/products/42" | sed -n 's/.*<span id="who">\(.*\)<\/span>.*/\1/p'
curl -sS -o /dev/null -w 'the same token again: %{http_code} to the waiting room\n' "$there"
rm -f "$jar"

say "a queue token that was used is worth nothing"
curl -sS -o /dev/null -w '%{http_code}\n' -H "Authorization: Bearer $used" "$edge/api/v1/queue/status"

say "what the operator sees"
operate "$admin/rooms/$room/stats" | sed 's/,"passed_per_minute.*/}/'
operate "$admin/rooms/$room/audit?limit=2"
say "done"
