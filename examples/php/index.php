<?php
/**
 * A shop of one page that ranks its visitors. Try it:
 *
 *     php -S 127.0.0.1:3000 index.php
 *     concert -upstream http://127.0.0.1:3000 -cap 5
 *
 * Then open http://127.0.0.1:8080/ and sign in as a member or customer.
 */

declare(strict_types=1);

require_once __DIR__ . '/concert.php';

session_start();

$path = (string) parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
$accounts = ['anna' => 'customer', 'ben' => 'member', 'operator' => 'staff'];

if ($path === '/sign-in' && isset($accounts[$_POST['name'] ?? ''])) {
    session_regenerate_id(true);
    $_SESSION['name'] = $_POST['name'];
}
if ($path === '/sign-out') {
    unset($_SESSION['name']);
}

$name = $_SESSION['name'] ?? null;
$is = $name === null ? null : $accounts[$name];

// One line per page: the highest of what is true counts.
concert_sync(concert_rank([
    'staff'    => $is === 'staff',
    'checkout' => $name !== null && $path === '/checkout',
    'customer' => $is === 'customer',
    'member'   => $name !== null,
]));

if ($_SERVER['REQUEST_METHOD'] === 'POST' && $path !== '/checkout') {
    header('Location: /', true, 303);
    exit;
}
$ordered = $_SERVER['REQUEST_METHOD'] === 'POST';
?>
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Shop</title>
<h1>Shop</h1>
<?php if ($ordered): ?>
<p id="ordered">Thank you: we have received your order.</p>
<?php endif ?>
<?php if ($name === null): ?>
<form method="post" action="/sign-in"><label>Name: anna, ben or operator <input name="name"></label> <button>Sign in</button></form>
<?php else: ?>
<p>Signed in as <?= htmlspecialchars($name) ?>. <a href="/checkout">Checkout</a></p>
<form method="post" action="/checkout"><button>Order</button></form>
<form method="post" action="/sign-out"><button>Sign out</button></form>
<?php endif ?>
</html>
