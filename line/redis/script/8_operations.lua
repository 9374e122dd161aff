-- Operations: everything but Enter. Each function reads its arguments and
-- fills in the body of the answer.

function O.enter() F.enter() end
function O.release() end -- the report says it all
function O.leave() F.leave(F.num(1), F.arg(2), F.arg(3) == '1') end

function O.poll()
  local t = F.find(F.num(1), F.num(2))
  if not t or t.class == GUEST then body[1] = 'UNKNOWN'; return end
  local c = F.ghostly(F.before(t.member), t.number)
  local o = F.outlook(c)
  local own, state, ready = t.class, 0, false
  local since = F.sight(t)
  if own == DOOR then
    ready, state = S.mode == 0, 2
    F.put(t)
  elseif t.called and S.mode == 0 then
    ready, state = true, 1 -- told before: to ask again renews no claim
    F.put(t)
  else
    local p = F.pause(t, o, false)
    ready = F.comes(o, F.horizon(F.backIn(t, p)), c)
    if ready then
      t.called, t.at, t.asked = true, n, 1000
      F.setDue(t, n + 4 * S.reload)
      F.setClass(t, CALLED)
      F.put(t)
      state = 1
    else F.await(t, POLLED, p) end
  end
  body[1] = ready and 'READY' or 'WAIT'
  F.addPlace(t, c, o, state, since, false)
end

function F.addOccupant(t, c)
  local o = F.outlook(c)
  F.addPlace(t, c, o, F.stateOf(t.class), t.seen == NEVER and -1 or n - t.seen, false)
  local ready = S.mode == 0 and (t.class == DOOR or t.called)
  body[#body + 1] = t.client
  body[#body + 1] = F.int(t.rank)
  body[#body + 1] = (t.polled and 'P' or '') .. (ready and 'R' or '') ..
    ((t.class == ABSENT or t.class == DOOR) and 'A' or '')
end

function O.look()
  local number = F.num(1)
  local t = F.get(number)
  if t and t.class ~= GUEST and not F.dead(t) then
    body[1] = 'KNOWN'
    return F.addOccupant(t, F.ghostly(F.before(t.member), number))
  end
  body[1] = 'ENDED'
  if t then body[2] = '2'; return end
  local why = F.became(number)
  if why == 0 and number >= S.number0 and number < S.number then why = 2 end -- long ago
  body[2] = F.int(why < 4 and why or 0) -- lost ones may come back
end

function O.quit()
  local t = F.get(F.num(1))
  if not t then return end
  S.evicted = S.evicted + 1
  F.dismiss(t, 'expired')
end

function O.remove()
  local t = F.get(F.num(1))
  if not t or t.class == GUEST then body[1] = 'UNKNOWN'; return end
  S.removed = S.removed + 1
  F.dismiss(t, 'removed')
end

-- purge removes the tickets of a batch whose numbers the caller picked.
function O.purge()
  local count = 0
  for k = A + 1, #ARGV do
    local t = F.get(tonumber(ARGV[k]))
    if t then
      count = count + 1
      F.dismiss(t, 'removed')
    end
  end
  S.removed = S.removed + count
  body[1] = F.int(count)
end

-- spent takes out tickets that were used while Redis was away.
function O.spent()
  for k = A + 1, #ARGV do
    local number = tonumber(ARGV[k])
    local t = F.get(number)
    if t then F.dismiss(t, 'admitted') else F.note(number, 'admitted') end
    call('HDEL', K.flying, F.id(number))
  end
end

-- doubt is for requests that came to an end while Redis was away: a number and
-- a stand each. Neither the page nor the stand is the caller's any more.
function O.doubt()
  for k = A + 1, #ARGV, 2 do
    local number = tonumber(ARGV[k])
    F.unstandOne(number, ARGV[k + 1])
    F.stray(number)
  end
end

-- held answers how many tickets a client has.
function O.held() body[1] = call('HGET', K.clients, F.arg(1)) or '0' end

-- clients lists a batch of tickets with their clients: cursor, then pairs.
function O.clients()
  local got = call('HSCAN', K.tickets, F.arg(1), 'COUNT', 500)
  body[1] = got[1]
  for k = 1, #got[2], 2 do
    body[#body + 1] = got[2][k]
    body[#body + 1] = unpack_(got[2][k + 1])[10]
  end
end

function O.promote()
  local t, pos = F.get(F.num(1)), F.num(2)
  if not t or t.class == GUEST then body[1] = 'UNKNOWN'; return end
  if pos == 0 then
    local run, inside = F.promotedRun(t.member)
    if inside then return end
    pos = run + 1
  end
  local live = call('ZCARD', K.line)
  if pos < 1 or pos > live then body[1], body[2] = 'POSITION', F.int(live); return end
  F.delist(t)
  t.member, t.pro = F.memberAt(pos, t.number), true
  F.enlist(t)
  F.put(t)
  S.promoted = S.promoted + 1
end

function O.list()
  local first, count = F.num(1), F.num(2)
  local members = call('ZRANGE', K.line, first, first + count - 1)
  if #members == 0 then return end
  local c = F.before(members[1])
  for _, m in ipairs(members) do
    local t = F.get(F.numberOf(m))
    F.addOccupant(t, F.ghostly(c, t.number))
    c.ghosts = nil
    c.live = c.live + 1
    if t.class > 0 then c[t.class] = c[t.class] + 1 end
  end
end

-- restore: flags of the batch (first, returning), next, then for each ticket
-- number, issued, client, age, rank, flags (P polled, M promoted, A absent).
function O.restore()
  local flags = F.arg(1)
  if string.find(flags, 'F') and call('EXISTS', K.line, K[GUEST]) > 0 then body[1] = 'INUSE'; return end
  for k = A + 3, #ARGV, 6 do
    F.restore(tonumber(ARGV[k]), tonumber(ARGV[k + 1]), ARGV[k + 2], tonumber(ARGV[k + 3]),
      tonumber(ARGV[k + 4]), ARGV[k + 5])
  end
  if F.num(2) > S.number then S.number, S.f_cursor = F.num(2), F.num(2) end
  if string.find(flags, 'R') then S.ret = n + S.ttl end
end

function F.restore(number, issued, client, age, rank, flags)
  local seen_ = n - age
  if number <= 0 or F.get(number) or age >= S.ttl then return end
  local function has(x) return string.find(flags, x, 1, true) ~= nil end
  local t = { number = number, issued = issued, seen = min(seen_, n), at = 0, gap = 0, rank = rank,
    polled = has('P'), pro = has('M'), asked = floor(min(90 * SEC, S.ttl / 3) / MS) }
  if not t.polled then t.seen = n end
  F.own(t, client)
  local last = call('ZRANGE', K.line, -1, -1)[1] or ''
  t.member = F.ordinary(number, F.lead(rank))
  if t.pro and (last == '' or last < '@') then t.member = F.between(last, '@', number)
  elseif t.pro or t.member <= last then t.member = F.between(last, nil, number) end
  local k, due = FRESH, n + t.asked * MS
  if has('A') then k, due = ABSENT, t.seen + F.life(t)
  elseif t.polled and n - seen_ <= 30 * SEC then k, due = POLLED, n + 30 * SEC end
  t.class = k
  F.enlist(t)
  F.setDue(t, due)
  F.put(t)
  if number >= S.number then S.number = number + 1; S.f_cursor = S.number end
end

-- configure: cap, inflow, interval, burst, mode, max waiting, per client, rank
-- lead, ttl, grace, door max, door wait.
function O.configure() F.configure(0) end

function F.configure(at)
  local function arg(k) return F.num(at + k) end
  F.bucketConfigure(arg(2), arg(3), arg(4))
  S.cap, S.mode, S.maxwaiting, S.perclient, S.ranklead = arg(1), arg(5), arg(6), arg(7), arg(8)
  if S.ttl and arg(9) < S.ttl then S.resweep = '0' end
  S.ttl, S.grace, S.doormax, S.doorwait = arg(9), arg(10), arg(11), arg(12)
end

function O.stats()
  F.fold()
  F.addStats()
end

function F.addStats()
  local c = F.all()
  local use = S.cap > 0 and S.usd > 0 and min(1, S.usn / S.usd / S.cap) or 0
  for _, x in ipairs({ S.used, c.live, F.present(c), S.atdoor, c[CALLED], S.hold,
    (S.rtd > 0 and S.rtn / S.rtd or 0) * SEC * 1e6, use * 1e6, S.queued, S.admitted, S.evicted, S.removed,
    S.promoted, S.timeouts, S.refused, S.passed, S.returned, S.out, S.lost or 0 }) do
    body[#body + 1] = F.int(x)
  end
end

-- advance is the heartbeat: it lets what only time brings happen.
function O.advance()
  local all = call('HGETALL', K.inst)
  for k = 1, #all, 2 do
    local r = F.instance(all[k])
    if n - r.last > LEASE then
      S.astray = n + 30 * SEC
      F.lapseInstance(all[k], r)
    else
      if F.mute(r) then
        S.astray = max(S.astray or 0, n + 5 * SEC)
        F.giveBack(all[k], false)
      end
      local was = r.dark
      F.suspect(r)
      if r.dark and not was then F.giveBack(all[k], true) end
      if r.dark ~= was then F.touch(all[k], r) end
    end
  end
  if S.resweep then F.sweep() end
  F.settle()
  F.lendBase()
  F.expire()
  F.fold()
  F.addStats()
  body[#body + 1] = F.digest()
  for k = 1, #all, 2 do
    local r = F.instance(all[k])
    if r then
      body[#body + 1] = all[k]
      body[#body + 1] = F.int(n - r.last)
      body[#body + 1] = F.int(r.lease)
      body[#body + 1] = F.int(r.used)
    end
  end
end

-- sweep looks for tickets whose lives were shortened by a change of the
-- settings, a batch at a time.
function F.sweep()
  local got = call('HSCAN', K.tickets, S.resweep, 'COUNT', BATCH)
  for k = 1, #got[2], 2 do
    local t = F.get(tonumber(got[2][k]))
    if t and t.class ~= GUEST and F.dead(t) then F.evict(t) end
  end
  S.resweep = got[1] ~= '0' and got[1] or nil
end

-- digest tells which numbers stood where, so that an instance can say so after
-- a loss of the room: pairs of a number and how many present ones are ahead.
function F.digest()
  local live = call('ZCARD', K.line)
  if live == 0 then return '' end
  local share = F.present(F.all()) / live
  local out, last = { F.int(F.drainRate() * 1e15) }, 0
  for k = 0, 32 do
    local rank = floor((live - 1) * k / 32)
    local m = call('ZRANGE', K.line, rank, rank)[1]
    local number = F.numberOf(m)
    if number > last then
      out[#out + 1] = F.id(number) .. ':' .. F.int(rank * share)
      last = number
    end
  end
  return table.concat(out, ' ')
end

-- quitroom gives back what the caller holds: it leaves.
function O.quitroom()
  if F.lapseInstance(me, F.instance(me)) then S.lost = S.lost - 1 end
end
