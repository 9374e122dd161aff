// Package deploy tests what is in its folders: the compose file and the
// Kubernetes base are read by the libraries of those who will run them, and the
// walk through a room is gone on processes; alerts and the dashboard are about
// metrics that exist, by Prometheus's own parser; installer.sh runs in a tree of
// its own, with the real Concert and stand-ins for what would change the machine;
// logrotate rotates a log that is being written.
// Package blackbox runs the fronts and has systemd look at the units. It is a
// module of its own, so that these libraries are no dependency of Concert.
package deploy
