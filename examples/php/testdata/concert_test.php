<?php
// Checks of concert.php without a test framework: php concert_test.php
// exits with 1 and says what is wrong.

declare(strict_types=1);

error_reporting(E_ALL);
set_error_handler(static function (int $no, string $text, string $file, int $line): bool {
    throw new ErrorException($text, 0, $no, $file, $line);
});

ob_start();
require __DIR__ . '/../concert.php';
$said = ob_get_clean();

$checks = 0;
$wrong = [];
function check(string $what, $got, $want): void
{
    global $checks, $wrong;
    $checks++;
    if ($got !== $want) {
        $wrong[] = $what . ': ' . var_export($got, true) . ', want ' . var_export($want, true);
    }
}

function refuses(string $what, callable $call): void
{
    try {
        $call();
        check($what, 'accepted', 'refused');
    } catch (InvalidArgumentException $e) {
        check($what, 'refused', 'refused');
    }
}

check('including it prints', $said, '');
check('including it starts a session', session_status(), PHP_SESSION_NONE);
check('including it includes other files', count(get_included_files()), 2);

check('no flag', concert_rank([]), 'guest');
check('no true flag', concert_rank(['staff' => false, 'member' => null, 'customer' => 0]), 'guest');
check('the highest', concert_rank(['member' => true, 'checkout' => 1, 'customer' => 'yes']), 'checkout');
check('in any order', concert_rank(['staff' => true, 'member' => true]), 'staff');
check('in any case', concert_rank([' Member ' => true]), 'member');
refuses('an unknown flag', static fn () => concert_rank(['vip' => false]));

check('a rank', concert_line('staff'), 'Concert-Priority: staff');
check('a rank with a ttl', concert_line('Checkout', 1800), 'Concert-Priority: checkout; ttl=1800');
check('a ttl too small', concert_value('staff', 1), 'staff; ttl=60');
check('a negative ttl', concert_value('staff', -5), 'staff; ttl=60');
check('a ttl too large', concert_value('staff', PHP_INT_MAX), 'staff; ttl=86400');
check('a guest has no ttl', concert_value('guest', 600), 'guest');
refuses('an unknown rank', static fn () => concert_value('vip'));
refuses('a line break', static fn () => concert_value("staff\r\nX: y"));
refuses('an empty rank', static fn () => concert_value(''));

if (!headers_sent()) {
    check('before output', concert_send('staff'), true);
    check('clearing', concert_clear(), true);
}

// A session in memory is enough to see what is remembered.
ini_set('session.use_cookies', '0');
ini_set('session.cache_limiter', '');
session_set_save_handler(new class implements SessionHandlerInterface {
    public function open($path, $name): bool { return true; }
    public function close(): bool { return true; }
    #[ReturnTypeWillChange]
    public function read($id) { return ''; }
    public function write($id, $data): bool { return true; }
    public function destroy($id): bool { return true; }
    #[ReturnTypeWillChange]
    public function gc($age) { return 0; }
});
session_start();
check('a guest from the beginning', concert_sync('guest'), false);
check('a rank', concert_sync('Customer'), true);
check('is remembered', $_SESSION[CONCERT_SESSION_KEY], 'customer');
check('and renewed', concert_sync('customer'), true);
check('a guest again', concert_sync('guest'), true);
check('is cleared once', concert_sync('guest'), false);
check('and forgotten', isset($_SESSION[CONCERT_SESSION_KEY]), false);
refuses('an unknown rank in a session', static fn () => concert_sync('vip'));
session_abort();

if ($wrong !== []) {
    fwrite(STDERR, implode("\n", $wrong) . "\n");
    exit(1);
}
echo "ok: $checks checks\n";
