<?php
/** A site behind an off-site room: php -S 127.0.0.1:8089 index.php */

declare(strict_types=1);

require_once __DIR__ . '/gate.php';

$visitor = concert_gate(array_filter([
    'waiting_room_url' => getenv('WAITING_ROOM_URL'),
    'room' => getenv('GATE_ROOM'),
    'audience' => getenv('TOKEN_AUDIENCE'),
    'jwks_url' => getenv('JWKS_URL'),
    'validate_url' => getenv('VALIDATE_URL'),
    'session_key' => getenv('SESSION_KEY'),
    'keys_file' => getenv('KEYS_FILE'),
]));

header('Content-Type: text/plain; charset=utf-8');
echo 'site ', $_SERVER['REQUEST_URI'], ' ticket ', $visitor['ticket'], "\n";
