-- Main: one call, from the arguments to the answer.
--
-- Arguments of every call: operation, instance, era, the room the instance
-- knows, the latest state of it that it has seen, the time ('' for the clock of
-- Redis), its report, and the mail it has read. A call of an era that is over,
-- of a lapsed instance, or about a room that is not this one has no effect: the
-- instance is told to synchronize first.

-- sync: lease and used, number of instances known to be alive, highest number
-- known, flags (R: lost tickets may return; H: begin a room by holding back),
-- digest of the line, stands at the door (joined by spaces), and the settings
-- to begin a room with.
function O.sync()
  local lease, used, highest = F.num(1), F.num(2), F.num(4)
  local known, fresh = ARGV[4], S.seq == 0
  if fresh then
    F.configure(7)
    S.svd = max(1, S.cap) -- a service time is assumed until one is measured
    S.svn = S.svd * 200 * MS
  end
  if fresh and string.find(F.arg(5), 'R') then S.ret = n + S.ttl end
  if fresh and string.find(F.arg(5), 'H') then F.hold(1.5 * SEC, huge) end
  if known ~= '' then F.recover(fresh, known) end
  if highest >= S.number then S.number = highest + 1; S.f_cursor = S.number end
  if string.find(F.arg(5), 'O') then S.number0, S.ret = S.number, n + S.ttl end -- numbers were given meanwhile
  local r = F.instance(me) or { lease = 0, used = 0, sent = 0, acked = 0, back = 0, told = 0, began = n }
  F.heard(r)
  local pending = F.confirm(r, tonumber(ARGV[8]))
  lease, used = lease + pending, used + pending
  S.out, S.used = S.out + lease - r.lease, S.used + used - r.used
  r.lease, r.used, r.era, r.last = lease, used, tonumber(ARGV[3]), n
  F.touch(me, r)
  F.reportOutage()
  if n < S.held then
    S.back = S.back + 1
    if S.back >= S.want then S.held = n end
  end
  F.keepStands(F.arg(7))
  F.expire()
end

-- hold lends out nothing for a while: what is lent out already is not known
-- before the instances have told.
function F.hold(d, want) S.held, S.want, S.back = n + d, want, 0 end

-- recover is for a room whose latest state is lost, as the caller's memory of
-- it shows: tickets of before may come back.
function F.recover(fresh, known)
  local behind = known == S.room and S.seq < tonumber(ARGV[5])
  if behind then
    local sec, nsec = F.clock()
    local micros = sec * 1e6 + floor(nsec / 1000)
    S.room = me .. '/' .. F.int(micros)
    S.number = max(S.number, micros)
    S.f_cursor, S.number0, S.cms = S.number, S.number, sec * 1000 + floor(nsec / MS)
  end
  if fresh or behind then
    S.ret = n + S.ttl
    F.hold(3 * SEC, F.num(3))
  elseif known ~= S.room and n < S.ret then
    S.number0 = max(S.number0, min(S.number, F.num(4) + 1))
  end
  if known ~= S.room and n < 10 * SEC and not S.ghosts then F.haunt(F.arg(6)) end
end

-- haunt takes up a digest of the line that was lost.
function F.haunt(digest)
  local rate, g = 0, {}
  for word in string.gmatch(digest, '%S+') do
    local a, b = string.match(word, '^(%d+):(%d+)$')
    if a then g[#g + 1] = tonumber(a); g[#g + 1] = tonumber(b) else rate = tonumber(word) / 1e15 end
  end
  if #g < 4 then return end
  S.ghosts, S.ghostrate, S.ghostat, S.ghostadm, S.ghostend = g, rate, n, S.admitted, n + 90 * SEC
end

-- reportOutage takes down what the caller did while it was on its own.
function F.reportOutage()
  local grants, ends, held, landed = string.match(ARGV[7], '^%d+ (%d+) (%d+) (%d+) %-?%d+(.*)$')
  S.admitted = S.admitted + tonumber(grants)
  if tonumber(ends) > 0 then F.ended(tonumber(ends), tonumber(held)) end
  F.landed(landed)
end

-- confirm forgets mail that was read; it returns the grants that were not.
function F.confirm(r, ack)
  if ack > r.sent then r.sent = ack end -- the room is older than what was read
  if ack > r.acked then
    call('LTRIM', F.mailKey(me), ack - r.acked, -1)
    r.acked = ack
    r.owed = ack < r.sent and S.beat or nil
  end
  local grants = 0
  if op == 'sync' and r.sent > r.acked then
    for _, m in ipairs(call('LRANGE', F.mailKey(me), 0, -1)) do
      if string.sub(m, -1) == 'A' then grants = grants + 1 end
    end
  end
  return grants
end

-- keepStands takes away the caller's stands that it does not know.
function F.keepStands(list)
  local known = {}
  for id in string.gmatch(list, '%S+') do known[id] = true end
  for _, k in ipairs({ DOOR, GUEST }) do
    for _, m in ipairs(call('ZRANGE', K[k], 0, -1)) do
      local number = F.numberOf(m)
      for _, s in ipairs(F.stands(number)) do
        if s[1] == me then
          if known[s[2]] then known[s[2]] = nil else F.unstandOne(number, s[2]) end
        end
      end
    end
  end
  local mail = call('LRANGE', F.mailKey(me), 0, -1)
  for _, m in ipairs(mail) do known[string.match(m, ' (%S+) ')] = nil end
  for id in pairs(known) do body[#body + 1] = id end -- these are lost
end

function F.unstandOne(number, id)
  local _, last = F.unstand(number, me, id)
  if not last then return end
  local t = F.get(number)
  if t.class == GUEST then F.drop(t, 'expired'); return end
  t.seen = n
  F.await(t, t.polled and POLLED or FRESH, 2 * SEC)
end

-- suspect has the slots of an instance that is silent not be reckoned with:
-- they do not come back as others do. Shortly before they do, they count again.
function F.suspect(r)
  local silent = n - r.last
  local dark = silent > SUSPECT and silent < LEASE - 2 * SEC
  if dark == (r.dark ~= nil) then return end
  if dark then r.dark, r.darkUsed = r.lease, r.used else return F.heard(r) end
  S.dark, S.used = S.dark + r.dark, S.used - r.darkUsed
end

-- heard undoes suspect.
function F.heard(r)
  if not r.dark then return end
  S.dark, S.used = S.dark - r.dark, S.used + r.darkUsed
  r.dark, r.darkUsed = nil, nil
end

-- report takes down what an instance did by itself: slots given back, given
-- out, come back, the time they were held, a correction of the slot-time, and
-- the tickets of those that came back.
function F.report(r)
  local give, grants, ends, held, area, landed = string.match(ARGV[7], '^(%d+) (%d+) (%d+) (%d+) (-?%d+)(.*)$')
  give, grants, ends = tonumber(give), tonumber(grants), tonumber(ends)
  F.heard(r)
  r.lease, S.out = r.lease - give, S.out - give
  r.used, S.used = r.used + grants - ends, S.used + grants - ends
  S.area = S.area + tonumber(area)
  S.grants, S.admitted = S.grants + grants, S.admitted + grants
  if grants > 0 then S.lastg = n end
  if ends > 0 then F.ended(ends, tonumber(held)) end
  F.landed(landed)
  r.last = n
  F.touch(me, r)
end

-- nextEvent is when time alone will change something, in nanoseconds from now;
-- -1: not before a heartbeat.
function F.nextEvent()
  if S.resweep then return 0 end
  if S.late and op == 'advance' then return 50 * MS end -- many were late at once
  if call('EXISTS', K[DOOR], K[GUEST]) == 0 or S.mode ~= 0 then return -1 end
  local at = huge
  if n < S.held then at = S.held end
  if S.keeping == 1 then
    local due = call('ZRANGE', K.due, 0, 0, 'WITHSCORES')[2]
    at = min(at, S.kept, due and max(tonumber(due), n) or huge)
  elseif F.free() > 0 then at = n end
  if S.inflow > 0 and F.permits() == 0 then at = min(at, F.bucketNext()) end
  return at == huge and -1 or max(0, ceil(at - n))
end

function F.tell()
  for name in pairs(post) do call('PUBLISH', P .. ':to:' .. name, 'mail') end
  F.idle()
  local busy = F.busy() and 1 or 0
  if busy == 1 and S.busy == 0 then call('PUBLISH', P .. ':all', 'busy ' .. F.int(S.seq + 1)) end
  S.busy = busy
  return busy
end

function F.main()
  F.begin()
  if not F.load() then return { 'SYNC' } end
  if (op == 'advance' or op == 'sync') and S.cap ~= nil and F.broken() then
    call('UNLINK', K.state)
    if op == 'advance' then return { 'SYNC' } end
    F.load()
  end
  local r = F.instance(me)
  if op ~= 'sync' and (not r or r.era ~= tonumber(ARGV[3]) or S.room ~= ARGV[4] or S.seq < tonumber(ARGV[5])) then
    return { 'SYNC' }
  end
  if op == 'sync' and r and r.era >= tonumber(ARGV[3]) then return { 'SYNC' } end
  S.lent = 0
  if S.cap ~= nil then
    F.meterAdvance(F.waiting())
    if op ~= 'sync' then
      F.confirm(r, tonumber(ARGV[8]))
      F.report(r)
    end
    F.lapses()
    F.overdue()
    F.settle()
  end
  O[op]()
  F.settle()
  local next_, busy = F.nextEvent(), F.tell()
  local lent = S.lent
  S.lent, S.late = nil, nil
  r = F.instance(me)
  local mail = {}
  if r and r.sent > r.acked then mail = call('LRANGE', F.mailKey(me), 0, -1) end
  if r and r.told ~= r.sent then
    r.told = r.sent
    F.touch(me, r)
  end
  F.save()
  return { 'OK', S.room, F.int(S.seq), busy, lent, F.int(next_), mail, body }
end
