// Package php tests the PHP helper, concert.php, and its example page with a
// real PHP. Without one the tests are skipped.
package php
