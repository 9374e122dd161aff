-- One operation on a room. Times are microseconds of Unix time; "sec" is in
-- seconds, rounded up. What is answered is a flat list that begins with a word.
local roomsK, lineK, seatsK, onK, lateK, minutesK, messagesK, auditK = unpack(KEYS)
local op, id, now, ticketP = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
if now == 0 then
	local t = redis.call('TIME')
	now = t[1] * 1000000 + t[2]
end
local sec = math.ceil(now / 1000000)
local claim = 60
local keep = 86400 -- how much longer than its life a ticket is remembered

local decided = redis.call('HGET', roomsK, id)

local r = {}
do
	local flat = redis.call('HGETALL', lineK)
	for i = 1, #flat, 2 do r[flat[i]] = tonumber(flat[i + 1]) end
end
if r.at and now < r.at then now = r.at end -- a clock that ran back

local function whole(n) return string.format('%.0f', n) end
local function open() return r.enabled == 1 and r.paused == 0 end
local function waiting() return r.issued - r.admitted end
local function places()
	if r.cap == 0 then return waiting() end
	return math.max(0, r.cap - redis.call('ZCARD', seatsK))
end
local function ticketKey(n) return ticketP .. whole(r.epoch) .. ':' .. whole(n) end

local function clamp()
	if r.permits >= r.burst then r.permits, r.part = r.burst, 0 end
end

local function seat(n, at)
	redis.call('ZREM', lateK, whole(n))
	if redis.call('EXISTS', ticketKey(n)) == 1 then
		redis.call('ZADD', seatsK, whole(math.ceil(at / 1000000) + claim), whole(n))
	end
end

local function seatLate(at)
	while places() > 0 do
		local first = redis.call('ZRANGE', lateK, 0, 0)[1]
		if not first then return end
		seat(tonumber(first), at)
		redis.call('ZREM', lateK, first)
	end
end

local function admit(n, at)
	if r.cap == 0 then
		r.admitted = r.admitted + n
		return
	end
	for _ = 1, n do
		r.admitted = r.admitted + 1
		seat(r.admitted, at)
	end
end

-- step lets in at one moment.
local function step(at)
	if not open() then
		r.at = math.max(r.at, at)
		return
	end
	if at > r.at then
		local earned = (at - r.at) * r.inflow + r.part
		local permits = math.floor(earned / r.interval)
		r.permits = math.min(r.permits + permits, 4294967295)
		r.part = earned - permits * r.interval
		r.at = at
	end
	seatLate(at)
	if r.flood > r.admitted then admit(math.min(r.flood - r.admitted, places()), at) end
	local n = math.min(waiting(), r.permits, places())
	admit(n, at)
	r.permits = r.permits - n
	clamp()
end

-- advance fills seats that came free on the way at the time they did.
local function advance()
	while r.cap > 0 do
		local first = redis.call('ZRANGE', seatsK, 0, 0, 'WITHSCORES')
		local free = first[2] and tonumber(first[2]) * 1000000
		if not free or free > now then break end
		local at = math.max(r.at, free)
		step(at)
		redis.call('ZREM', seatsK, first[1])
		step(at)
	end
	step(now)
end

local function settle() -- settings that advance has come to
	if r.cap == 0 or r.counted == 0 then
		redis.call('DEL', seatsK, lateK)
		if r.cap > 0 then
			local on = redis.call('ZRANGEBYSCORE', onK, '(' .. whole(sec), '+inf', 'WITHSCORES')
			for i = 1, #on, 2 do redis.call('ZADD', seatsK, on[i + 1], on[i]) end
		end
	end
	r.counted = r.cap > 0 and 1 or 0
end

local function save()
	local flat = {}
	for k, v in pairs(r) do
		flat[#flat + 1] = k
		flat[#flat + 1] = k == 'part' and string.format('%.17g', v) or whole(v)
	end
	redis.call('HSET', lineK, unpack(flat))
end

local function begin(epoch) -- an empty line
	redis.call('DEL', lineK, seatsK, onK, lateK, minutesK)
	r.epoch, r.issued, r.admitted, r.flood, r.permits, r.part, r.at = epoch, 0, 0, 0, r.burst, 0, now
	r.counted = r.cap > 0 and 1 or 0
	r.passed, r.peakq, r.peakqat, r.peakr, r.peakrat = 0, 0, 0, 0, 0
end

local function set(from) -- inflow, interval, burst, cap, enabled, paused
	local had = r.interval
	r.inflow, r.interval, r.burst = tonumber(ARGV[from]), tonumber(ARGV[from + 1]) * 1000000, tonumber(ARGV[from + 2])
	r.cap, r.enabled, r.paused = tonumber(ARGV[from + 3]), tonumber(ARGV[from + 4]), tonumber(ARGV[from + 5])
	r.queue, r.access = tonumber(ARGV[from + 6]), tonumber(ARGV[from + 7])
	if had and had ~= r.interval then r.part = math.min(r.interval - 1, math.floor(r.part * r.interval / had)) end
	if r.permits then clamp() end
end

-- Operators.
if op == 'create' then
	if decided then return {'exists'} end
	if redis.call('HLEN', roomsK) >= tonumber(ARGV[5]) then return {'full'} end
	redis.call('HSET', roomsK, id, ARGV[6])
	redis.call('DEL', auditK)
	redis.call('HDEL', messagesK, id)
	redis.call('LPUSH', auditK, ARGV[7])
	set(9)
	begin(tonumber(ARGV[8]))
	save()
	return {'ok'}
end
if not decided then return {'no room'} end
if op == 'decided' then return {'ok', decided, redis.call('HGET', messagesK, id) or ''} end
if op == 'change' then -- expected, new, act, action, epoch, settings …
	if decided ~= ARGV[5] then return {'conflict'} end
	advance()
	redis.call('HSET', roomsK, id, ARGV[6])
	if ARGV[7] ~= '' then
		redis.call('LPUSH', auditK, ARGV[7])
		redis.call('LTRIM', auditK, 0, 199)
	end
	set(10)
	if ARGV[8] == 'reset' then
		begin(tonumber(ARGV[9]))
	elseif ARGV[8] == 'open' then
		r.flood = r.issued
	end
	settle()
	step(now)
	save()
	return {'ok'}
end
if op == 'messages' then -- expected, new, act
	if (redis.call('HGET', messagesK, id) or '') ~= ARGV[5] then return {'conflict'} end
	redis.call('HSET', messagesK, id, ARGV[6])
	redis.call('LPUSH', auditK, ARGV[7])
	redis.call('LTRIM', auditK, 0, 199)
	return {'ok'}
end
if op == 'delete' then
	redis.call('HDEL', roomsK, id)
	redis.call('HDEL', messagesK, id)
	redis.call('DEL', lineK, seatsK, onK, lateK, minutesK, auditK)
	return {'ok'}
end
if op == 'audit' then
	local acts = redis.call('LRANGE', auditK, 0, tonumber(ARGV[5]) - 1)
	table.insert(acts, 1, 'ok')
	return acts
end

advance()

if op == 'live' then
	save()
	return {'ok', decided, whole(r.issued), whole(r.admitted), whole(r.passed), whole(redis.call('ZCARD', seatsK))}
end
if op == 'stats' then
	save()
	local out = {'ok', whole(r.passed), whole(r.peakq), whole(r.peakqat), whole(r.peakr), whole(r.peakrat), whole(math.floor(now / 60000000))}
	for _, v in ipairs(redis.call('HGETALL', minutesK)) do out[#out + 1] = v end
	return out
end

-- Visitors.
local t = {}
local function keepTicket(n)
	redis.call('SET', ticketKey(n), whole(t.turn) .. ',' .. whole(t.seen) .. ',' .. whole(t.used),
		'EX', whole((t.used > 0 and r.access or r.queue) + keep))
end

local function answer(n, admitted)
	save()
	return {'ok', decided, whole(r.epoch), whole(n), whole(t.turn), admitted and '1' or '0', whole(r.admitted),
		whole(r.permits), whole(r.part), whole(r.interval), n <= r.admitted and not admitted and '1' or '0'}
end

if op == 'join' then
	if r.enabled == 0 then
		save()
		return {'closed'}
	end
	if waiting() >= tonumber(ARGV[5]) then return {'full'} end
	r.issued = r.issued + 1
	t.turn, t.seen, t.used = 0, sec, 0
	keepTicket(r.issued)
	if waiting() > r.peakq then r.peakq, r.peakqat = waiting(), now end
	step(now)
	return answer(r.issued, r.issued <= r.admitted)
end

-- poll, resume, exchange: epoch, number, turn
local epoch, n, turn = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local kept = epoch == r.epoch and redis.call('GET', ticketKey(n))
save()
if not kept then return {'gone'} end
do
	local a, b, c = kept:match('(%d+),(%d+),(%d+)')
	t.turn, t.seen, t.used = tonumber(a), tonumber(b), tonumber(c)
end
if t.used > 0 and t.used + r.access <= sec then return {'used'} end
if t.used == 0 and t.seen + r.queue <= sec then return {'gone'} end
if op ~= 'resume' and turn ~= t.turn then
	t.turn = math.max(t.turn, turn) + 1
	keepTicket(n)
	return {'burnt'}
end

local function mayPass()
	if n > r.admitted then return false end
	if r.cap == 0 or t.used > 0 or redis.call('ZSCORE', seatsK, whole(n)) then return true end
	redis.call('ZADD', lateK, 'NX', whole(now), whole(n))
	seatLate(now)
	return redis.call('ZSCORE', seatsK, whole(n)) and true or false
end

if op == 'exchange' then
	if not mayPass() then return {'not yet'} end
	t.seen = sec
	if t.used == 0 then
		t.used = sec
		local minute = whole(math.floor(now / 60000000))
		r.passed = r.passed + 1
		local passed = redis.call('HINCRBY', minutesK, minute, 1)
		if passed == 1 then
			for _, m in ipairs(redis.call('HKEYS', minutesK)) do
				if tonumber(m) <= tonumber(minute) - 60 then redis.call('HDEL', minutesK, m) end
			end
		end
		if passed > r.peakr then r.peakr, r.peakrat = passed, now end
		redis.call('ZREMRANGEBYSCORE', onK, '-inf', whole(sec))
		redis.call('ZADD', onK, whole(sec + r.access), whole(n))
		if r.cap > 0 then
			-- A claim is not cut short: whoever was expected for a minute is.
			local until_ = math.max(sec + r.access, tonumber(redis.call('ZSCORE', seatsK, whole(n)) or 0))
			redis.call('ZADD', seatsK, whole(until_), whole(n))
		end
	end
	keepTicket(n)
	save()
	return {'ok', decided, whole(t.used)}
end

t.turn = math.max(t.turn, turn) + 1
t.seen = sec
keepTicket(n)
local admitted = mayPass()
return answer(n, admitted)
