<?php
// The example page, and /hold, which stays until the test makes the file that
// the environment names.

declare(strict_types=1);

if (parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH) === '/hold') {
    for ($i = 0; $i < 600 && !file_exists((string) getenv('FREE')); $i++) {
        usleep(50000);
        clearstatcache();
    }
    echo 'held';
    return;
}
require __DIR__ . '/../index.php';
