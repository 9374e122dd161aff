#!/usr/bin/env bash
# Installs Concert on RHEL, Alma, Rocky, CentOS Stream and Fedora: a confined
# systemd service, SELinux policy included, whose port is kept through restarts,
# and the IPtoASN database with its daily refresh. installer.sh --help has the
# options; docs/operations.md says what to do next.
#
# Every step looks first at what is there, so it can be run again: after a
# failure, to change an option, to replace the binary. Nothing on the machine is
# touched before arguments, binary, checksum, settings and policy have proved
# good. Of the settings it only ever writes the first version.
set -euo pipefail
shopt -s extglob
export LC_ALL=C PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
umask 022

usage() {
	cat <<'TEXT'
usage: installer.sh install [options]     install, upgrade, or change an option
       installer.sh uninstall [options]   remove the service; settings and data stay

What to install:
  --binary FILE      the concert binary; without it concert-linux-ARCH or concert
                     beside this script, or else the one that is installed
  --sha256 HEX       its checksum; without it, SHA256SUMS beside the binary counts

The first settings, for /etc/concert/concert.env; the file is never written again:
  --listen ADDR      where visitors or the TLS front come (127.0.0.1:8080)
  --upstream URL     the site (http://127.0.0.1:3000)
  --capacity N       pages that the site can make at once (50)

Choices, remembered for the next time; each has a --no- form:
  --socket           concert.socket holds the port through restarts (on)
  --database         download the IPtoASN database now and daily (on)
  --selinux          build, load and label the policy where SELinux is on (on)
  --connect-any      let Concert connect to any port, not only labelled ones (off)
  --firewall         open in firewalld what Concert listens on for others (off)
  --zone NAME        firewalld's zone; the default zone without it
  --port N           label a further port, such as another origin's; may be repeated

How:
  --restart          restart Concert even if nothing has changed
  --no-start         leave the service as it is: enable it, do not start it
  --purge            with uninstall: remove settings, data and the user as well
  --dry-run          print every step and change nothing
  --root DIR         put all files below DIR, for trying it out; the programs it
                     calls (systemctl, semanage, ...) are still those of this machine
  --help             this text

Exit status: 0 done, 1 a step failed, 2 the arguments or the machine do not fit.
TEXT
}

# Where things are. Units and policy lie beside this script.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=
bin=/usr/local/bin/concert
etc=/etc/concert
env_file=$etc/concert.env
state_file=$etc/installer.state
data=/var/lib/concert
units=/etc/systemd/system
listen_conf=$units/concert.socket.d/listen.conf
ports_conf=$units/concert.service.d/low-ports.conf

say() { printf '%s\n' "$*"; }
warn() { printf 'warning: %s\n' "$*" >&2; }
die() {
	printf 'installer.sh: %s\n' "$*" >&2
	exit 1
}

# ---- arguments: all that is wrong with them is said at once

command=
declare -A value=() choice=() fresh=() kept=()
more_ports=()
dry=no restart=no start=yes purge=no
problems=()
problem() { problems+=("$*"); }

parse() {
	while [ $# -gt 0 ]; do
		case $1 in
		install | uninstall)
			[ -z "$command" ] || problem "$1: there is already a command, $command"
			command=$1
			;;
		-h | --help)
			usage
			exit 0
			;;
		--dry-run) dry=yes ;;
		--restart) restart=yes ;;
		--no-start) start=no ;;
		--purge) purge=yes ;;
		--socket | --database | --selinux | --connect-any | --firewall) choice[${1#--}]=yes ;;
		--no-socket | --no-database | --no-selinux | --no-connect-any | --no-firewall) choice[${1#--no-}]=no ;;
		--binary | --sha256 | --listen | --upstream | --capacity | --zone | --port | --root)
			if [ $# -lt 2 ]; then
				problem "$1 needs a value"
			elif [ "$1" = --port ]; then
				more_ports+=("$2")
				shift
			else
				value[${1#--}]=$2
				shift
			fi
			;;
		--*=*) problem "${1%%=*}: give the value as the next word, ${1%%=*} ${1#*=}" ;;
		*) problem "$1 is not known; --help lists the options" ;;
		esac
		shift
	done
}

is_port() { [[ $1 =~ ^[0-9]{1,5}$ ]] && ((10#$1 >= 1 && 10#$1 <= 65535)); }

check_values() {
	local port name
	[ -n "$command" ] || problem "say what to do: install or uninstall"
	[ "$command" = uninstall ] || [ "$purge" = no ] || problem "--purge goes with uninstall"
	for port in "${more_ports[@]}"; do
		is_port "$port" || problem "--port $port: want a number from 1 to 65535"
	done
	if [ -n "${value[sha256]+x}" ] && ! [[ ${value[sha256]} =~ ^[0-9a-fA-F]{64}$ ]]; then
		problem "--sha256 ${value[sha256]}: want 64 hexadecimal digits"
	fi
	if [ -n "${value[capacity]+x}" ] && ! [[ ${value[capacity]} =~ ^[1-9][0-9]{0,6}$ ]]; then
		problem "--capacity ${value[capacity]}: want a number from 1"
	fi
	if [ -n "${value[zone]+x}" ] && ! [[ ${value[zone]} =~ ^[A-Za-z0-9_-]+$ ]]; then
		problem "--zone ${value[zone]}: want a name of letters, digits, _ and -"
	fi
	for name in listen upstream; do # Concert itself judges them; here only what would end the line
		if [ -n "${value[$name]+x}" ] && ! [[ ${value[$name]} =~ ^[[:graph:]]+$ ]]; then
			problem "--$name '${value[$name]}': want an address without spaces"
		fi
	done
	if [ -n "${value[root]+x}" ]; then
		root=${value[root]%/}
		[[ -d $root && $root == /* ]] || problem "--root ${value[root]}: want the absolute path of a directory"
	fi
}

# ---- the machine and the binary

architecture() {
	case $(uname -m) in
	x86_64) echo amd64 ;;
	aarch64) echo arm64 ;;
	esac
}

# check_machine says what is missing for both commands.
check_machine() {
	if [ "$dry" = no ] && [ -z "$root" ] && [ "$(id -u)" -ne 0 ]; then
		problem "it has to run as root: sudo $0 $command"
	fi
	command -v systemctl >/dev/null || problem "there is no systemctl: Concert is installed as a systemd service"
}

binary=

find_binary() {
	local arch candidate
	arch=$(architecture)
	if [ -z "$arch" ]; then
		problem "there is no Concert for $(uname -m) processors"
		return
	fi
	binary=${value[binary]:-}
	if [ -z "$binary" ]; then
		for candidate in "$here/concert-linux-$arch" "$here/concert" "$root$bin"; do
			if [ -f "$candidate" ]; then
				binary=$candidate
				break
			fi
		done
	fi
	if [ -z "$binary" ]; then
		problem "no binary: put concert-linux-$arch beside this script, or name it with --binary"
	elif [ ! -f "$binary" ] || [ ! -r "$binary" ]; then
		problem "--binary $binary: no such file, or it cannot be read"
	else
		check_elf "$arch"
		check_sum
	fi
}

# check_elf looks at the magic number and at the processor's (ELF, e_machine).
check_elf() {
	local want=3e00
	[ "$1" = amd64 ] || want=b700
	if [ "$(od -An -tx1 -N4 "$binary" | tr -d ' \n')" != 7f454c46 ]; then
		problem "$binary is not a Linux program"
	elif [ "$(od -An -tx1 -j18 -N2 "$binary" | tr -d ' \n')" != $want ]; then
		problem "$binary is for another processor than this machine's, $1"
	fi
}

checksum=
check_sum() {
	local list
	list=$(dirname "$binary")/SHA256SUMS
	checksum=${value[sha256]:-}
	if [ -z "$checksum" ] && [ -f "$list" ]; then
		checksum=$(awk -v name="$(basename "$binary")" '$2 == name || $2 == "*" name { print $1 }' "$list")
		[ -n "$checksum" ] || problem "$list does not have $(basename "$binary"): give --sha256"
	fi
	if [ -n "$checksum" ] && [ "$(digest "$binary")" != "${checksum,,}" ]; then
		problem "$binary has the checksum $(digest "$binary"), not ${checksum,,}: get it again"
	fi
}

digest() { sha256sum "$1" | cut -d ' ' -f 1; }

check_sources() {
	local file
	for file in selinux/concert.te selinux/concert.fc systemd/concert.env systemd/concert.service systemd/concert.socket \
		systemd/concert.service.d/low-ports.conf systemd/concert-naddr-data.service systemd/concert-naddr-data.timer; do
		[ -f "$here/$file" ] || problem "$here/$file is missing: keep the script with the folders it came with"
	done
}

refuse_problems() {
	[ "${#problems[@]}" -gt 0 ] || return 0
	printf 'installer.sh: nothing was changed:\n' >&2
	printf '  %s\n' "${problems[@]}" >&2
	exit 2
}

# ---- doing things, or only saying so

step() {
	doing=$*
	printf '\n== %s\n' "$*"
}

# run does one thing, and prints it.
run() {
	say "  $*"
	[ "$dry" = yes ] || "$@"
}

changed=no # whether a unit was, since systemd last read them

# put MODE OWNER FILE replaces the file with its input, unless it is the same
# already; the new one is complete before it takes the old one's place.
put() {
	local mode=$1 owner=$2 file=$root$3
	cat >"$work/new"
	if [ -f "$file" ] && cmp -s "$work/new" "$file"; then
		return 0
	fi
	changed=yes
	say "  write $file ($owner, $mode)"
	[ "$dry" = no ] || return 0
	mkdir -p "$(dirname "$file")"
	install -m "$mode" "$work/new" "$file.new"
	chown "$owner" "$file.new"
	mv -f "$file.new" "$file"
}

# remove takes away what is there.
remove() {
	local file
	for file in "$@"; do
		[ ! -e "$root$file" ] || run rm -rf "$root$file"
	done
}

directory() { # directory MODE OWNER DIR
	[ -d "$root$3" ] || run mkdir -p "$root$3"
	run chown "$2" "$root$3"
	run chmod "$1" "$root$3"
}

# ---- what an earlier run left: choices, and what has to be taken back one day

read_state() {
	local key text
	[ -f "$root$state_file" ] || return 0
	while IFS='=' read -r key text; do
		case $key in
		\#*) ;;
		?*) kept[$key]=$text ;;
		esac
	done <"$root$state_file"
}

declare -A usual=([socket]=yes [database]=yes [selinux]=yes [connect-any]=no [firewall]=no)

# choose takes the options, else what was chosen before, else what is usual.
choose() {
	local name
	for name in "${!usual[@]}"; do
		choice[$name]=${choice[$name]:-${kept[$name]:-${usual[$name]}}}
	done
	value[zone]=${value[zone]-${kept[zone]:-}}
	[ "${#more_ports[@]}" -gt 0 ] || read -ra more_ports <<<"${kept[port]:-}"
}

write_state() {
	local name
	for name in "${!choice[@]}"; do
		fresh[$name]=${choice[$name]}
	done
	fresh[zone]=${value[zone]}
	fresh[port]=${more_ports[*]}
	put 0600 root:root $state_file < <(
		say '# Written by installer.sh: what was chosen, and what is in force.'
		for name in "${!fresh[@]}"; do
			printf '%s=%s\n' "$name" "${fresh[$name]}"
		done | sort
	)
}

# ---- settings and policy, before anything is touched

# random_hex prints 32 random bytes, and ends the script without.
random_hex() {
	local hex
	hex=$(od -An -tx1 -N32 /dev/urandom | tr -d ' \n')
	[ "${#hex}" -eq 64 ] || die "/dev/urandom gives no random numbers"
	printf '%s' "$hex"
}

# compose_env leaves the settings that will be in force in $work/env.
compose_env() {
	local name admit token pass
	if [ -f "$root$env_file" ]; then
		cat "$root$env_file" >"$work/env"
		for name in listen upstream capacity; do
			[ -z "${value[$name]+x}" ] || warn "--$name has no effect: $env_file is there already; edit it"
		done
		return
	fi
	admit=$(random_hex)
	token=$(random_hex)
	pass=$(random_hex)
	ADMIT=$admit TOKEN=$token PASS=${pass:0:32} DATABASE=${choice[database]} \
		LISTEN=${value[listen]:-} UPSTREAM=${value[upstream]:-} CAPACITY=${value[capacity]:-} \
		awk 'function put(name, text) { if (text != "") $0 = name "=" text }
		/^CONCERT_LISTEN=/ { put("CONCERT_LISTEN", ENVIRON["LISTEN"]) }
		/^CONCERT_UPSTREAM=/ { put("CONCERT_UPSTREAM", ENVIRON["UPSTREAM"]) }
		/^CONCERT_CAPACITY=/ { put("CONCERT_CAPACITY", ENVIRON["CAPACITY"]) }
		/^CONCERT_ADMIT_SECRET=/ { put("CONCERT_ADMIT_SECRET", ENVIRON["ADMIT"]) }
		/^CONCERT_ADMIN_TOKEN=/ { put("CONCERT_ADMIN_TOKEN", ENVIRON["TOKEN"]) }
		/^CONCERT_PORTAL_PASS=/ { put("CONCERT_PORTAL_PASS", ENVIRON["PASS"]) }
		/^#NADDR_DATA=/ && ENVIRON["DATABASE"] == "yes" { sub(/^#/, "") }
		{ print }' "$here/systemd/concert.env" >"$work/env"
}

# check_settings has the new binary judge the settings, and leaves every value
# in force in $work/settings.
check_settings() {
	local candidate=$binary
	if [ ! -x "$binary" ]; then
		candidate=$work/concert
		install -m 0700 "$binary" "$candidate"
		"$candidate" -version >/dev/null || die "$work may hold no programs: chmod +x $binary, or set TMPDIR to a folder that may"
	fi
	env -i PATH="$PATH" "$candidate" check -env-file "$work/env" >"$work/settings" 2>"$work/said" ||
		die "Concert does not start with the settings of $env_file; nothing was changed:
$(sed "s|$work/env|$env_file|g" "$work/said")"
}

setting() { awk -v name="-$1" '$1 == name { print ($2 == "\"\"" ? "" : $2); exit }' "$work/settings"; }

# selinux_on says whether there is a policy to care for.
selinux_on() {
	[ "${choice[selinux]}" = yes ] && command -v getenforce >/dev/null && [ "$(getenforce)" != Disabled ]
}

build_policy() {
	local need packages=()
	for need in checkmodule:checkpolicy semodule_package:policycoreutils semodule:policycoreutils semanage:policycoreutils-python-utils; do
		command -v "${need%%:*}" >/dev/null || packages+=("${need##*:}")
	done
	[ "${#packages[@]}" -eq 0 ] || run dnf install -y "${packages[@]}"
	run checkmodule -M -m -o "$work/concert.mod" "$here/selinux/concert.te"
	run semodule_package -o "$work/concert.pp" -m "$work/concert.mod" -f "$here/selinux/concert.fc"
}

host_of() { printf '%s' "${1%:*}"; }

# activated prints what systemd listens on for Concert: systemd takes addresses,
# and a port alone, but no names.
activated() {
	local addr
	for addr in "$(setting listen)" "$(setting tls-http-listen)"; do
		case $(host_of "$addr") in
		'') [ -z "$addr" ] || printf '%s\n' "${addr#:}" ;;
		\[*\] | +([0-9.])) printf '%s\n' "$addr" ;;
		*) die "concert.socket cannot listen on $addr, which has a name: use an IP address in $env_file, or --no-socket" ;;
		esac
	done
}

# ---- the steps

make_user() {
	id -u concert >/dev/null 2>&1 || run useradd --system --user-group --no-create-home \
		--home-dir $data --shell /usr/sbin/nologin --comment 'Concert waiting room' concert
	directory 0750 root:concert $etc
	directory 0700 concert:concert $data
	[ -f "$root$env_file" ] || put 0640 root:concert $env_file <"$work/env"
}

load_policy() {
	fresh[policy]=$(cat "$here/selinux/concert.te" "$here/selinux/concert.fc" | sha256sum | cut -d ' ' -f 1)
	if [ "${kept[policy]:-}" = "${fresh[policy]}" ] && has_module; then
		say "  the policy is loaded already"
	else
		run semodule -i "$work/concert.pp"
	fi
	if [ "${kept[boolean]:-no}" != "${choice[connect-any]}" ]; then
		run setsebool -P concert_connect_any "$([ "${choice[connect-any]}" = yes ] && echo on || echo off)"
	fi
	fresh[boolean]=${choice[connect-any]}
	label_ports
	run restorecon -R "$root$etc" "$root$data"
}

has_module() { command -v semodule >/dev/null && semodule -l | awk '$1 == "concert" { found = 1 } END { exit !found }'; }

# label_ports sees to it that Concert may listen on and connect to what its
# settings name.
label_ports() {
	local upstream name addr port
	upstream=$(setting upstream)
	addr=${upstream#*://}
	addr=${addr%%/*}
	port=80
	[[ $upstream != https:* ]] || port=443
	[[ ! $addr =~ :([0-9]+)$ ]] || port=${BASH_REMATCH[1]}
	label_port tcp "$port"
	for name in listen tls-http-listen portal-listen gate-listen gate-admin-listen; do
		addr=$(setting $name)
		[ -z "$addr" ] || label_port tcp "${addr##*:}"
	done
	addr=$(setting listen)
	[ "$(setting http3)" != true ] || label_port udp "${addr##*:}"
	for port in "${more_ports[@]}"; do
		label_port tcp "$port"
	done
}

# list_ports may fail in a dry run only, for which one need not be root.
list_ports() { semanage port -l 2>"$work/said" || [ "$dry" = yes ] || die "semanage port -l: $(cat "$work/said")"; }

label_port() { # label_port tcp|udp PORT
	local type
	# What has a label of its own; the ranges that all ports fall into do not count.
	type=$(list_ports | awk -v proto="$1" -v port="$2" '
		$2 == proto && $1 !~ /^(unreserved|ephemeral|reserved|hi_reserved)_port_t$/ {
			for (i = 3; i <= NF; i++) {
				n = split($i, range, /[-,]/)
				if (port + 0 >= range[1] + 0 && port + 0 <= (n > 1 && range[2] != "" ? range[2] : range[1]) + 0) {
					if (type != "concert_port_t") { type = $1 } # the local label comes before the base one
				}
			}
		}
		END { print type }')
	case $type in
	concert_port_t | http_port_t | http_cache_port_t) ;;
	'') run semanage port -a -t concert_port_t -p "$1" "$2" ;;
	*)
		warn "port $2 was labelled $type; it is Concert's now, and will be $type again after uninstall"
		run semanage port -m -t concert_port_t -p "$1" "$2"
		;;
	esac
}

new_binary=no

put_binary() {
	if [ "$binary" -ef "$root$bin" ] || cmp -s "$binary" "$root$bin"; then
		say "  $bin is that already"
		return
	fi
	new_binary=yes
	run mkdir -p "$root${bin%/*}"
	run install -m 0755 "$binary" "$root$bin.new"
	run chown root:root "$root$bin.new"
	run runuser -u concert -- "$root$bin.new" -version
	[ ! -f "$root$bin" ] || run cp -pf "$root$bin" "$root$bin.previous"
	run mv -f "$root$bin.new" "$root$bin"
	! selinux_on || run restorecon "$root$bin"
}

sockets_changed=no units_changed=no

put_units() {
	local unit addresses=()
	changed=no
	if [ "${choice[socket]}" = yes ]; then
		mapfile -t addresses < <(activated)
		put 0644 root:root $units/concert.socket <"$here/systemd/concert.socket"
		# The addresses are those of the settings, whatever the unit has.
		put 0644 root:root $listen_conf < <(printf '[Socket]\nListenStream=\n' && printf 'ListenStream=%s\n' "${addresses[@]}")
		sockets_changed=$changed
	else
		drop_unit concert.socket
		remove $listen_conf
	fi
	put 0644 root:root $units/concert.service <"$here/systemd/concert.service"
	if low_ports; then
		put 0644 root:root $ports_conf <"$here/systemd/concert.service.d/low-ports.conf"
	else
		remove_changed $ports_conf
	fi
	for unit in concert-naddr-data.service concert-naddr-data.timer; do
		if [ "${choice[database]}" = yes ]; then
			put 0644 root:root $units/$unit <"$here/systemd/$unit"
		else
			drop_unit $unit
		fi
	done
	! selinux_on || run restorecon -R "$root$units"
	[ "$changed" = no ] || run systemctl daemon-reload
}

remove_changed() {
	[ ! -e "$root$1" ] || changed=yes
	remove "$1"
}

# drop_unit stops a unit and takes it away.
drop_unit() {
	[ -e "$root$units/$1" ] || return 0
	run systemctl disable --now "$1"
	remove_changed "$units/$1"
}

# low_ports says whether Concert itself opens a port that takes a right.
low_ports() {
	local addr name names=(portal-listen gate-listen gate-admin-listen)
	[ "${choice[socket]}" = yes ] || names+=(listen tls-http-listen)
	[ "$(setting http3)" != true ] || names+=(listen)
	for name in "${names[@]}"; do
		addr=$(setting "$name")
		if [ -n "$addr" ] && is_port "${addr##*:}" && ((10#${addr##*:} < 1024)); then
			return 0
		fi
	done
	return 1
}

service_xml=/etc/firewalld/services/concert.xml

# open_firewall makes a firewalld service of what Concert listens on for others.
open_firewall() {
	local name addr ports=() zone=${kept[zone]:-}
	step 'Firewall'
	for name in listen tls-http-listen; do
		addr=$(setting $name)
		case $(host_of "$addr") in
		127.* | \[::1\] | localhost) ;;
		*) [ -z "$addr" ] || ports+=("tcp:${addr##*:}") ;;
		esac
	done
	if [ "${#ports[@]}" -eq 0 ]; then
		say "  nothing to open: Concert listens for this machine only"
		take_back_firewall
		return
	fi
	[ "$(setting http3)" != true ] || ports+=("udp:${ports[0]#tcp:}")
	if [ -e "$root$service_xml" ] && [ "$zone" != "${value[zone]}" ]; then
		run firewall-cmd --permanent ${zone:+--zone="$zone"} --remove-service=concert
	fi
	changed=no
	put 0644 root:root $service_xml < <(
		say '<?xml version="1.0" encoding="utf-8"?>'
		say '<service>'
		say '  <short>Concert waiting room</short>'
		for addr in "${ports[@]}"; do
			say "  <port protocol=\"${addr%%:*}\" port=\"${addr##*:}\"/>"
		done
		say '</service>'
	)
	if [ "$changed" = no ] && [ "${kept[firewall]:-} ${kept[zone]:-}" = "yes ${value[zone]}" ]; then
		return
	fi
	run firewall-cmd --reload # it knows the service from then on
	run firewall-cmd --permanent ${value[zone]:+--zone="${value[zone]}"} --add-service=concert
	run firewall-cmd --reload
}

close_firewall() {
	[ -e "$root$service_xml" ] || return 0
	step 'Firewall'
	take_back_firewall
}

# take_back_firewall closes what an earlier run opened.
take_back_firewall() {
	[ -e "$root$service_xml" ] || return 0
	run firewall-cmd --permanent ${kept[zone]:+--zone="${kept[zone]}"} --remove-service=concert
	remove $service_xml
	run firewall-cmd --reload
}

is_active() { systemctl is-active --quiet "$1"; }

# start_service has what was put in place take effect, at the least cost to
# visitors. Its errors are returned: whoever calls it may go back.
start_service() {
	if [ "${choice[socket]}" = yes ] && { [ "$sockets_changed" = yes ] || ! is_active concert.socket; }; then
		# Concert lets go of the port before the socket unit can have it.
		run systemctl stop concert.service || return 1
		run systemctl restart concert.socket || return 1
	fi
	if ! is_active concert.service; then
		run systemctl start concert.service
	elif [ "$units_changed" = yes ] || [ "$restart" = yes ] || [ "${kept[settings]:-}" != "${fresh[settings]}" ]; then
		run systemctl restart concert.service
	elif [ "$new_binary" = yes ]; then
		take_over
	else
		say "  nothing has changed: Concert goes on"
	fi
}

# put_off notes what a run with --no-start leaves for the next one to do.
put_off() {
	fresh[pending]=${kept[pending]:-}
	[ -n "${kept[settings]:-}" ] || return 0 # nothing was started yet
	if [ "$sockets_changed" = yes ]; then
		fresh[pending]=sockets
	elif [ "${fresh[pending]}" = '' ] && { [ "$units_changed" = yes ] || [ "$new_binary" = yes ] || [ "${kept[settings]}" != "${fresh[settings]}" ]; }; then
		fresh[pending]=service
	fi
}

# take_up makes good what earlier runs have put off.
take_up() {
	[ -z "${kept[pending]:-}" ] || restart=yes
	[ "${kept[pending]:-}" != sockets ] || sockets_changed=yes
}

main_pid() { systemctl show --property=MainPID --value concert.service; }

# take_over has the new binary go on where the old one is, without closing a
# connection.
take_over() {
	local before n
	before=$(main_pid)
	run systemctl kill --signal=USR2 --kill-who=main concert.service || return 1
	[ "$dry" = no ] || return 0
	for n in {1..300}; do
		[ "$(main_pid)" = "$before" ] || return 0
		sleep 0.2
	done
	warn "the new process did not take over within $((n / 5)) s; restarting"
	run systemctl restart concert.service
}

# verify asks the running Concert for its health, and what it runs as.
verify() {
	local n label
	for n in {1..150}; do
		if env -i PATH="$PATH" "$root$bin" health -env-file "$root$env_file" >"$work/said" 2>&1; then
			break
		fi
		[ "$n" -lt 150 ] || return 1
		sleep 0.2
	done
	say "  Concert answers"
	selinux_on || return 0
	label=$(ps -o label= -p "$(main_pid)")
	[[ $label == *:concert_t:* ]] || die "Concert runs as $label and not confined as concert_t: restorecon $bin, then run this again with --restart"
	say "  it is confined: $label"
	if command -v ausearch >/dev/null && ausearch --input-logs -m avc -c concert -ts recent >"$work/denials" 2>/dev/null; then
		warn "SELinux denied it something; ausearch -m avc -c concert says what"
	fi
}

# go_back puts the binary of before in place of one that does not serve.
go_back() {
	say "Concert does not answer: $(tail -n 1 "$work/said" 2>/dev/null)" >&2
	if [ "$new_binary" = yes ] && [ -f "$root$bin.previous" ]; then
		mv -f "$root$bin.previous" "$root$bin"
		! selinux_on || restorecon "$root$bin"
		systemctl restart concert.service || die "nor does the one of before; journalctl -u concert says why"
		die "the binary of before serves again; journalctl -u concert says why the new one did not"
	fi
	die "journalctl -u concert says why; mend it and run this again"
}

install_all() {
	step 'Checking settings and policy'
	compose_env
	check_settings
	[ "${choice[socket]}" = no ] || activated >/dev/null
	! selinux_on || build_policy
	fresh[settings]=$(digest "$work/env")

	step 'User, directories and settings'
	[ "$dry" = yes ] || touched=yes
	make_user
	if selinux_on; then
		step 'SELinux'
		load_policy
	fi
	step 'Binary'
	put_binary
	step 'Units'
	put_units
	units_changed=$changed
	if [ "${choice[firewall]}" = yes ]; then open_firewall; else close_firewall; fi

	step 'Service'
	run systemctl enable concert.service
	[ "${choice[socket]}" = no ] || run systemctl enable concert.socket
	if [ "$start" = yes ]; then
		take_up
		start_service || go_back
		[ "$dry" = yes ] || verify || go_back
		remove "$bin.previous"
	else
		put_off
	fi
	write_state
	if [ "${choice[database]}" = yes ]; then
		step 'IPtoASN database'
		run systemctl enable --now concert-naddr-data.timer
		[ -f "$root$data/naddr/ip2asn-combined.tsv.gz" ] || run systemctl start --no-block concert-naddr-data.service
	fi
	summary
}

summary() {
	step 'Done'
	[ "$dry" = no ] || { say 'This was a dry run: nothing was changed.'; return; }
	say "Settings, with the passwords that were made: $env_file (for root and Concert alone)"
	say "After editing it:                  systemctl reload concert"
	say "Log:                               journalctl -u concert"
	say "Operator portal:                   http://$(setting portal-listen)/"
	if [ "${choice[database]}" = yes ] && ! grep -q '^NADDR_DATA=' "$root$env_file"; then
		say "To see whose an address is, add:   NADDR_DATA=$data/naddr/ip2asn-combined.tsv.gz"
	fi
}

uninstall_all() {
	local proto ports port
	[ "$dry" = yes ] || touched=yes
	step 'Service'
	changed=no
	for port in concert.socket concert.service concert-naddr-data.timer concert-naddr-data.service; do
		drop_unit $port
	done
	remove $listen_conf $ports_conf
	rmdir "$root$units/concert.socket.d" "$root$units/concert.service.d" 2>/dev/null || true # an own drop-in stays
	[ "$changed" = no ] || run systemctl daemon-reload
	close_firewall
	step 'Files'
	remove $bin $bin.new $bin.previous $state_file
	if [ "$purge" = yes ]; then
		remove $etc $data
		! id -u concert >/dev/null 2>&1 || run userdel concert
	fi
	if has_module; then
		step 'SELinux'
		while read -r proto ports; do
			for port in ${ports//,/ }; do
				run semanage port -d -p "$proto" "$port" </dev/null
			done
		done < <(semanage port -l -C | awk '$1 == "concert_port_t" { sub(/^[^ ]+ +/, ""); print }')
		run semodule -r concert
		[ ! -d "$root$etc" ] || run restorecon -R "$root$etc" "$root$data"
	fi
	step 'Done'
	[ "$dry" = no ] || { say 'This was a dry run: nothing was changed.'; return; }
	[ ! -d "$root$etc" ] || say "$etc and $data stay; uninstall --purge removes them and the user"
}

touched=no doing=

# finish cleans up, and says where it stopped.
finish() {
	local status=$?
	[ -z "${work:-}" ] || rm -rf "$work"
	if [ "$status" -ne 0 ] && [ "$touched" = yes ]; then
		say "installer.sh: stopped in the step \"$doing\". Once that is mended run it again: what is done is not done twice." >&2
	fi
}

main() {
	parse "$@"
	check_values
	check_machine
	if [ "$command" = install ]; then
		find_binary
		check_sources
	fi
	refuse_problems
	work=$(mktemp -d)
	trap finish EXIT
	read_state
	choose
	if [ "$command" = install ]; then install_all; else uninstall_all; fi
}

main "$@"
