<?php
/**
 * Keeps a page for those who have waited in an off-site room of Concert.
 *
 *     require_once 'gate.php';
 *
 *     $visitor = concert_gate([
 *         'waiting_room_url' => 'https://wait.example',
 *         'room'             => 'demo',
 *         'session_key'      => getenv('SESSION_KEY'), // 32 bytes or more, shared by all servers
 *     ]);
 *
 * Call it before anything else. It returns for somebody who may see the page,
 * and otherwise answers and ends the script: a redirect to the waiting room, or
 * from an address with a token to the same one without it.
 *
 * Further options: audience (the room), jwks_url, validate_url (takes each token
 * once), cookie, secure (marks the cookie Secure), keys_file (where to keep the
 * public keys for five minutes, writable by this site alone; without it they are
 * fetched for each token).
 *
 * Needs PHP 7.4 or newer with sodium, which is part of PHP.
 */

declare(strict_types=1);

const CONCERT_GATE_TYPE = 'concert-access+jwt';
const CONCERT_GATE_LEEWAY = 30;  // seconds that clocks may be apart
const CONCERT_GATE_KEEP = 300;   // seconds that keys are kept

/** Thrown when it cannot be told whether a token is good. */
class ConcertGateUnavailable extends RuntimeException {}

/**
 * @param array<string, mixed> $options
 * @return array{ticket: int, until: int} who may see the page
 */
function concert_gate(array $options): array
{
    $o = concert_gate_options($options);
    $method = $_SERVER['REQUEST_METHOD'] ?? 'GET';
    $reading = $method === 'GET' || $method === 'HEAD';
    [$own, $token] = concert_gate_address($_SERVER['REQUEST_URI'] ?? '/');
    $visitor = concert_gate_session($o, $_COOKIE[$o['cookie']] ?? null);
    if ($visitor !== null && ($token === null || !$reading)) {
        return $visitor;
    }
    header('Cache-Control: no-store');
    header('Referrer-Policy: no-referrer'); // the address may hold a token
    if ($visitor !== null) { // back from the waiting room once more
        concert_gate_redirect($own, 303);
    }
    if ($token !== null && $reading) {
        try {
            $claims = concert_gate_check($o, $token, time());
            if ($claims !== null && concert_gate_spend($o, $token)) {
                concert_gate_begin($o, $claims);
                concert_gate_redirect($own, 303);
            }
        } catch (ConcertGateUnavailable $e) {
            error_log('concert gate: ' . $e->getMessage());
            header('Retry-After: 5');
            concert_gate_say(503, 'One moment, please', 'We cannot check your turn just now. Please reload this page in a few seconds; your place is kept.');
        }
    }
    if (!$reading) {
        concert_gate_say(403, 'Nothing was sent', 'This site has a waiting room, and your visit has not passed it, or has come to its end. Please open the page anew and wait for your turn.');
    }
    $query = http_build_query(['room' => $o['room'], 'return' => $own]);
    concert_gate_redirect(rtrim($o['waiting_room_url'], '/') . '/?' . $query, 302);
}

/**
 * @param array<string, mixed> $o
 * @return array<string, mixed>
 */
function concert_gate_options(array $o): array
{
    foreach (['waiting_room_url', 'room'] as $name) {
        if (empty($o[$name]) || !is_string($o[$name])) {
            throw new InvalidArgumentException("concert gate: the option $name is missing");
        }
    }
    if (!is_string($o['session_key'] ?? null) || strlen($o['session_key']) < 32) {
        throw new InvalidArgumentException('concert gate: session_key needs at least 32 bytes');
    }
    return $o + [
        'audience' => $o['room'],
        'jwks_url' => rtrim($o['waiting_room_url'], '/') . '/.well-known/jwks.json',
        'validate_url' => '',
        'cookie' => 'concert_access',
        'secure' => !empty($_SERVER['HTTPS']),
        'keys_file' => '',
    ];
}

/**
 * The address without its access token, as a path on this origin: one that
 * begins with two slashes would name another.
 *
 * @return array{0: string, 1: string|null}
 */
function concert_gate_address(string $uri): array
{
    // Some servers pass on a whole URL that was asked for.
    $uri = preg_replace('~^[a-z]+://[^/?]*~i', '', $uri);
    [$path, $query] = explode('?', $uri, 2) + [1 => ''];
    $token = null;
    $kept = [];
    foreach (explode('&', $query) as $pair) {
        [$name, $value] = explode('=', $pair, 2) + [1 => ''];
        if ($name === 'token' && concert_gate_header($value) !== null) {
            $token = $value;
        } elseif ($pair !== '') {
            $kept[] = $pair;
        }
    }
    $path = str_replace('\\', '%5C', $path);
    return ['/' . ltrim($path, '/') . ($kept ? '?' . implode('&', $kept) : ''), $token];
}

/** @return array<string, mixed>|null the header of what looks like an access token */
function concert_gate_header(string $token): ?array
{
    $parts = explode('.', $token);
    if (count($parts) !== 3 || strlen($token) > 4096) {
        return null;
    }
    $header = json_decode((string) concert_gate_decode($parts[0]), true);
    return is_array($header) && ($header['typ'] ?? null) === CONCERT_GATE_TYPE ? $header : null;
}

/**
 * Checks a token offline. Only EdDSA with a published key is ever tried.
 *
 * @param array<string, mixed> $o
 * @return array<string, mixed>|null its claims; null when it is not good
 */
function concert_gate_check(array $o, string $token, int $now): ?array
{
    $header = concert_gate_header($token);
    if ($header === null || ($header['alg'] ?? null) !== 'EdDSA' || isset($header['crit']) || !is_string($header['kid'] ?? null)) {
        return null;
    }
    $key = concert_gate_key($o, $header['kid']);
    [$head, $body, $signature] = explode('.', $token);
    $signature = concert_gate_decode($signature);
    if ($key === null || $signature === null || strlen($signature) !== SODIUM_CRYPTO_SIGN_BYTES
        || !sodium_crypto_sign_verify_detached($signature, "$head.$body", $key)) {
        return null;
    }
    $c = json_decode((string) concert_gate_decode($body), true);
    $good = is_array($c)
        && ($c['iss'] ?? null) === 'concert'
        && in_array($o['audience'], (array) ($c['aud'] ?? []), true)
        && ($c['room'] ?? null) === $o['room']
        && is_int($c['exp'] ?? null) && $c['exp'] > $now - CONCERT_GATE_LEEWAY
        && is_int($c['iat'] ?? null) && $c['iat'] <= $now + CONCERT_GATE_LEEWAY
        && ($c['nbf'] ?? 0) <= $now + CONCERT_GATE_LEEWAY
        && is_int($c['ticket'] ?? null);
    return $good ? $c : null;
}

/**
 * @param array<string, mixed> $o
 * @return string|null the public key of that id
 */
function concert_gate_key(array $o, string $kid): ?string
{
    $file = $o['keys_file'];
    if ($file !== '' && is_file($file) && filemtime($file) > time() - CONCERT_GATE_KEEP) {
        $key = concert_gate_find((string) file_get_contents($file), $kid);
        if ($key !== null) {
            return $key;
        }
    }
    $text = concert_gate_fetch($o['jwks_url'], null)[1];
    if ($file !== '') {
        $new = $file . '.' . bin2hex(random_bytes(4));
        if (file_put_contents($new, $text) === false || !rename($new, $file)) {
            error_log("concert gate: cannot write $file; the keys are fetched again each time");
        }
    }
    return concert_gate_find($text, $kid);
}

function concert_gate_find(string $text, string $kid): ?string
{
    foreach (json_decode($text, true)['keys'] ?? [] as $k) {
        if (($k['kid'] ?? null) === $kid && ($k['kty'] ?? null) === 'OKP' && ($k['crv'] ?? null) === 'Ed25519') {
            $x = concert_gate_decode((string) ($k['x'] ?? ''));
            return $x !== null && strlen($x) === SODIUM_CRYPTO_SIGN_PUBLICKEYBYTES ? $x : null;
        }
    }
    return null;
}

/**
 * Has the waiting room mark the token as used, where tokens are taken once.
 *
 * @param array<string, mixed> $o
 */
function concert_gate_spend(array $o, string $token): bool
{
    if ($o['validate_url'] === '') {
        return true;
    }
    [$status, $text] = concert_gate_fetch($o['validate_url'], json_encode(
        ['token' => $token, 'audience' => $o['audience'], 'one_time' => true], JSON_THROW_ON_ERROR));
    if ($status === 401 || $status === 404) {
        return false;
    }
    if ($status !== 200) {
        throw new ConcertGateUnavailable("{$o['validate_url']} answers with $status");
    }
    return (json_decode($text, true)['valid'] ?? false) === true;
}

/** @return array{0: int, 1: string} status and body */
function concert_gate_fetch(string $url, ?string $body): array
{
    $http = ['timeout' => 5, 'ignore_errors' => true, 'follow_location' => 0];
    if ($body !== null) {
        $http += ['method' => 'POST', 'header' => 'Content-Type: application/json', 'content' => $body];
    }
    $text = @file_get_contents($url, false, stream_context_create(['http' => $http]), 0, 1 << 16);
    $status = preg_match('~^HTTP/\S+ (\d{3})~', $http_response_header[0] ?? '', $m) ? (int) $m[1] : 0;
    if ($text === false || ($body === null && $status !== 200)) {
        throw new ConcertGateUnavailable("cannot fetch $url: status $status");
    }
    return [$status, $text];
}

/**
 * Begins the session: a cookie of this site, not the token, which has been in an
 * address.
 *
 * @param array<string, mixed> $o
 * @param array<string, mixed> $claims
 */
function concert_gate_begin(array $o, array $claims): void
{
    $payload = $claims['exp'] . '.' . $claims['ticket'];
    setcookie($o['cookie'], $payload . '.' . concert_gate_mac($o, $payload), [
        'expires' => $claims['exp'], 'path' => '/', 'httponly' => true, 'samesite' => 'Lax', 'secure' => $o['secure'],
    ]);
}

/**
 * @param array<string, mixed> $o
 * @param mixed $cookie
 * @return array{ticket: int, until: int}|null
 */
function concert_gate_session(array $o, $cookie): ?array
{
    if (!is_string($cookie) || !preg_match('~^(\d{1,12})\.(\d{1,19})\.([\w-]{43})$~D', $cookie, $m)
        || !hash_equals(concert_gate_mac($o, "$m[1].$m[2]"), $m[3]) || (int) $m[1] <= time()) {
        return null;
    }
    return ['ticket' => (int) $m[2], 'until' => (int) $m[1]];
}

/** @param array<string, mixed> $o */
function concert_gate_mac(array $o, string $payload): string
{
    $mac = hash_hmac('sha256', "concert gate\n{$o['room']}\n{$o['audience']}\n$payload", $o['session_key'], true);
    return rtrim(strtr(base64_encode($mac), '+/', '-_'), '=');
}

/** Decodes base64url; null for anything else. */
function concert_gate_decode(string $text): ?string
{
    if (preg_match('~[^\w-]~', $text)) {
        return null;
    }
    $raw = base64_decode(strtr($text, '-_', '+/'), true);
    return $raw === false ? null : $raw;
}

/** @return never */
function concert_gate_redirect(string $to, int $status): void
{
    header('Location: ' . $to, true, $status);
    exit;
}

/** @return never */
function concert_gate_say(int $status, string $title, string $text): void
{
    http_response_code($status);
    header('Content-Type: text/html; charset=utf-8');
    echo "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>$title</title></head><body><h1>$title</h1><p>$text</p></body></html>\n";
    exit;
}
