<?php
/**
 * Tells Concert, the waiting room in front of this site, how important a
 * visitor is: with a response header that Concert takes off and remembers.
 *
 *     require_once 'concert.php';
 *
 *     session_start();
 *     concert_sync(concert_rank([
 *         'staff'    => $user?->isStaff(),
 *         'checkout' => $page === 'checkout',
 *         'customer' => $user?->hasOrders(),
 *         'member'   => $user !== null,
 *     ]));
 *
 * A library of functions and nothing else: including it prints nothing, sends
 * nothing, starts no session and includes no other file. Call it before the
 * first byte of output, as for any header. Without Concert in front, browsers
 * ignore the header.
 *
 * Needs PHP 7.4 or newer.
 */

declare(strict_types=1);

/** The header, and the key it is remembered under in the session. */
const CONCERT_HEADER = 'Concert-Priority';
const CONCERT_SESSION_KEY = 'concert_rank';

/** How long a rank may be granted for, in seconds. Concert has the same bounds. */
const CONCERT_MIN_TTL = 60;
const CONCERT_MAX_TTL = 86400;

/** The ranks, lowest first. */
const CONCERT_RANKS = ['guest', 'member', 'prospect', 'customer', 'subscriber', 'checkout', 'staff'];

/**
 * Picks the highest rank whose flag is true; guest when none is.
 *
 * @param array<string, mixed> $flags rank => whether the visitor has it; the
 *                                    order does not matter
 * @throws InvalidArgumentException for a rank that does not exist
 */
function concert_rank(array $flags): string
{
    $best = 0;
    foreach ($flags as $rank => $has) {
        $place = concert_place((string) $rank);
        if ($has && $place > $best) {
            $best = $place;
        }
    }
    return CONCERT_RANKS[$best];
}

/**
 * Grants a rank with the response that is being made.
 *
 * @param int|null $ttl seconds, brought within a minute and a day; null for
 *                      the rank's own: half an hour for prospect and checkout,
 *                      eight hours for the others
 * @return bool whether the header was set: false once output has begun
 * @throws InvalidArgumentException for a rank that does not exist
 */
function concert_send(string $rank, ?int $ttl = null): bool
{
    $line = concert_line($rank, $ttl);
    if (headers_sent()) {
        return false;
    }
    header($line);
    return true;
}

/** Takes back whatever was granted; call it when somebody signs out. */
function concert_clear(): bool
{
    return concert_send('guest');
}

/**
 * Grants a rank and remembers it in the session, so that a visitor who falls
 * back to guest is cleared once, and one who never was more costs no header.
 * Each call renews the grant.
 *
 * Without an active session nothing is remembered, and every guest is cleared.
 *
 * @param int|null $ttl as for concert_send()
 * @return bool whether a header was set
 * @throws InvalidArgumentException for a rank that does not exist
 */
function concert_sync(string $rank, ?int $ttl = null): bool
{
    $guest = concert_place($rank) === 0;
    if (session_status() !== PHP_SESSION_ACTIVE) {
        return concert_send($rank, $ttl);
    }
    if ($guest && !isset($_SESSION[CONCERT_SESSION_KEY])) {
        return false;
    }
    if (!concert_send($rank, $ttl)) {
        return false; // remembered as it was, to be put right with the next response
    }
    if ($guest) {
        unset($_SESSION[CONCERT_SESSION_KEY]);
    } else {
        $_SESSION[CONCERT_SESSION_KEY] = CONCERT_RANKS[concert_place($rank)];
    }
    return true;
}

/**
 * The header line that grants a rank, for frameworks with response objects of
 * their own.
 *
 * @throws InvalidArgumentException for a rank that does not exist
 */
function concert_line(string $rank, ?int $ttl = null): string
{
    return CONCERT_HEADER . ': ' . concert_value($rank, $ttl);
}

/**
 * The same without the header's name.
 *
 * @throws InvalidArgumentException for a rank that does not exist
 */
function concert_value(string $rank, ?int $ttl = null): string
{
    $rank = CONCERT_RANKS[concert_place($rank)];
    if ($rank === 'guest' || $ttl === null) {
        return $rank;
    }
    return $rank . '; ttl=' . min(max($ttl, CONCERT_MIN_TTL), CONCERT_MAX_TTL);
}

/**
 * A rank's place among the ranks, guest being 0.
 *
 * @throws InvalidArgumentException for a rank that does not exist
 */
function concert_place(string $rank): int
{
    $place = array_search(strtolower(trim($rank)), CONCERT_RANKS, true);
    if ($place === false) {
        throw new InvalidArgumentException('no such rank: ' . $rank);
    }
    return $place;
}
