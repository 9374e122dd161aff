-- State: the room's keys, its clock and what every call loads and saves.
--
-- KEYS[1] is the prefix of all keys, in braces, so that they share a slot of a
-- cluster. Times are nanoseconds since the room began, which a double holds
-- exactly for a hundred days and to a few nanoseconds for centuries.

-- The script runs as a function of Redis 7, where everything outside of a
-- function runs once, when it is loaded. So what belongs to a call is set anew
-- by F.begin, and KEYS and ARGV are local names that package redisline declares.

local P, K = nil, nil -- the prefix, and the keys by name and by class
local call, pack, unpack_
local floor, ceil, min, max, abs, exp, huge

local op, me  -- the operation, and the instance that calls
local F = {}  -- the functions, by name: there may be few local names
local O = {}  -- the operations, by name
local S       -- the state of the room
local n       -- now
local E       -- the entry, of Enter
local body    -- what the operation answers
local dirty   -- records of instances to be saved
local seen    -- records of instances that were loaded
local post    -- names of those to whom mail was sent
local taken   -- tickets that were taken away from the door of instances
local A = 8   -- arguments before those of the operation

local MS, SEC = 1e6, 1e9
local MAXN = 9e15 -- above every ticket number, and exact in a double
local NEVER = -9e18
local BATCH = 256 -- the most tickets a heartbeat handles
local FEW = 32    -- the most tickets another call handles beside its own
local LEASE = 8 * SEC     -- an instance that is silent for longer is given up
local MUTE = 500 * MS     -- of calls by others, after which it is sent nobody more if mail is not confirmed
local SUSPECT = 2.5 * SEC -- its slots are not reckoned with when silent for longer
local DETOUR = 3 * SEC    -- what requests to an instance that hears of nothing cost their owners

local ABSENT, FRESH, POLLED, CALLED, PASSED, DOOR, GUEST = 0, 1, 2, 3, 4, 5, 6

function F.begin()
  if not call then -- these are not there yet when the function is loaded
    call, pack, unpack_ = redis.call, cmsgpack.pack, cmsgpack.unpack
    floor, ceil, min, max, abs, exp, huge = math.floor, math.ceil, math.min, math.max, math.abs, math.exp, math.huge
  end
  op, me = ARGV[1], ARGV[2]
  S, n, E, body, dirty, seen, post, taken = nil, nil, nil, {}, {}, {}, {}, 0
  if P == KEYS[1] then return end
  P = KEYS[1]
  K = {
    state = P .. ':state', line = P .. ':line', tickets = P .. ':tickets', due = P .. ':due',
    stands = P .. ':stands', clients = P .. ':clients', ended = P .. ':ended', flying = P .. ':flights', latest = P .. ':latest', orphans = P .. ':orphans', inst = P .. ':instances',
    [1] = P .. ':fresh', [2] = P .. ':polled', [3] = P .. ':called',
    [4] = P .. ':passed', [5] = P .. ':door', [6] = P .. ':guest',
  }
end

function F.arg(k) return ARGV[A + k] end
function F.num(k) return tonumber(ARGV[A + k]) end

-- int writes a whole number out in full: Redis would cut it to 14 digits.
function F.int(x) return string.format('%.0f', x) end

function F.clock()
  local sec, nsec = string.match(ARGV[6], '^(%d+) (%d+)$')
  if sec then return tonumber(sec), tonumber(nsec) end
  local t = call('TIME')
  return tonumber(t[1]), tonumber(t[2]) * 1000
end

-- create begins a room. Numbers begin at the microseconds since 1970, so that
-- those of a later room are higher.
function F.create(sec, nsec)
  for _, key in pairs(K) do call('UNLINK', key) end
  S = {
    bs = sec, bn = nsec, n = 0, skip = 0, room = me .. '/' .. F.int(sec * 1e6 + floor(nsec / 1000)), seq = 0,
    number = max(1, sec * 1e6 + floor(nsec / 1000)), cms = sec * 1000 + floor(nsec / MS),
    out = 0, used = 0, held = 0, busy = 0, dark = 0, idle = 0, beat = 0, orphaned = 0, orphanat = 0, ret = NEVER, atdoor = 0,
    up = 0, down = 0, keeping = 0, kept = 0, reload = 250 * MS,
    -- the meter, see meter.lua
    m_at = 0, m_fold = 0, area = 0, ends = 0, grants = 0, wait = 0, waitgr = 0,
    svn = 0, svd = 0, rtn = 0, rtd = 0, drn = 0, drd = 0, usn = 0, usd = 0, lastg = 0, hold = 0,
    bcredit = 0, bat = 0, bfull = 0,
    -- what is known of first polls
    f_came = 10, f_due = 10, f_gap = 3 * SEC, f_offgap = 0, f_offasked = 0,
    -- counters
    queued = 0, admitted = 0, evicted = 0, removed = 0, promoted = 0,
    timeouts = 0, refused = 0, passed = 0, returned = 0,
  }
  S.number0 = S.number
  S.f_cursor = S.number
end

-- load brings the state and the time up; false when there is none. Time in
-- which nobody called does not count, as Redis was away then: no lease runs out
-- and nobody is late who could not ask.
function F.load()
  local sec, nsec = F.clock()
  local raw = call('GET', K.state)
  if raw then S = unpack_(raw) elseif op ~= 'sync' then return false else
    F.create(sec, nsec)
  end
  local clock = (sec - S.bs) * SEC + (nsec - S.bn)
  local gap = clock - S.skip - S.n
  if gap > SUSPECT then S.skip = S.skip + gap end
  n = max(S.n, clock - S.skip)
  -- The beat only goes on while calls are frequent: a Redis that stands still for
  -- a moment is no reason to think that instances are mute.
  S.beat = S.beat + min(n - S.n, 20 * MS)
  S.n, S.ms = n, sec * 1000 + floor(nsec / MS)
  math.randomseed(floor(S.seq * 7919 + n / 1000) % 2147483647)
  return true
end

-- broken reports whether a part of the room is gone, as when Redis is told to
-- make room for other keys. Then all of it is lost, and begins anew.
function F.broken()
  return call('HLEN', K.tickets) < call('ZCARD', K.line) + call('ZCARD', K[GUEST]) or
    call('HLEN', K.stands) < call('ZCARD', K[DOOR]) + call('ZCARD', K[GUEST])
end

function F.save()
  S.seq = S.seq + 1
  for name, r in pairs(dirty) do
    if r.gone then call('HDEL', K.inst, name) else call('HSET', K.inst, name, pack(r)) end
  end
  call('SET', K.state, pack(S), 'KEEPTTL')
end

-- The instances. A record holds the slots lent out, those of them in use as
-- far as it told, when it was last heard of, and the mail it has not confirmed.
function F.instance(name)
  local r = seen[name]
  if r == nil then
    local raw = call('HGET', K.inst, name)
    r = raw and unpack_(raw) or false
    seen[name] = r
  end
  return r
end

function F.touch(name, r) seen[name] = r; dirty[name] = r end

function F.mailKey(name) return P .. ':mail:' .. name end

-- mail tells the instance that has a request at the door what became of it.
function F.mail(name, stand, verdict)
  local r = F.instance(name)
  if not r then return false end
  if r.sent == r.acked then r.owed = S.beat end
  r.sent = r.sent + 1
  call('RPUSH', F.mailKey(name), F.int(r.sent) .. ' ' .. stand .. ' ' .. verdict)
  F.touch(name, r)
  if name ~= me then post[name] = true end
  return true
end

-- expire has everything end by itself once no instance is left.
function F.expire()
  local ms = F.int(max(600000, 3 * S.ttl / MS))
  for _, key in pairs(K) do if key ~= K.state then call('PEXPIRE', key, ms) end end
  call('PEXPIRE', F.mailKey(me), ms)
  call('PEXPIRE', K.state, F.int(tonumber(ms) - 60000))
end
