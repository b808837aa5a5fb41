#!/usr/bin/perl
# Sends requests at an even rate: `perl open-loop.pl <order.json>` (open-loop-order.ts). It sends each request when it is due, whether or
# not earlier ones have been answered, and measures from that time until the answer is complete. Prints an OpenLoopResult as JSON.
#
# Perl, because its cost is small and even: a generator in Node used a whole core at 27,000 requests a second, and its collections made
# the 99th percentile of any server 3 ms.
use strict;
use warnings;
use IO::Socket::INET;
use JSON::PP;
use Socket qw(IPPROTO_TCP TCP_NODELAY);
use Time::HiRes qw(CLOCK_MONOTONIC clock_gettime);

use constant CONNECTIONS => 64;
# Requests that wait on one connection. With more, the server is too slow for the rate, and the result would be meaningless.
use constant WAITING_MAX => 1_000;
use constant ANSWER_TIMEOUT_S => 30;
use constant READ_BYTES => 65_536;

my $order = do {
    open(my $file, '<', $ARGV[0]) or die "$ARGV[0]: $!\n";
    local $/ = undef;
    decode_json(<$file>);
};
my @texts = @{ $order->{texts} };
my ($requests, $every_s) = ($order->{requests}, 1 / $order->{perSecond});

my (@sockets, @due, @rest, %number_of);
my $all = '';
for my $number (0 .. CONNECTIONS - 1) {
    my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $order->{port})
        or die "cannot connect: $@\n";
    $socket->setsockopt(IPPROTO_TCP, TCP_NODELAY, 1);
    $socket->blocking(0);
    ($sockets[$number], $due[$number], $rest[$number]) = ($socket, [], '');
    $number_of{ fileno($socket) } = $number;
    vec($all, fileno($socket), 1) = 1;
}

my (@times_us, %statuses);
my $started = clock_gettime(CLOCK_MONOTONIC);
my $given_up = $started + $requests * $every_s + ANSWER_TIMEOUT_S;
my $next = 0;
while (@times_us < $requests) {
    my $now = clock_gettime(CLOCK_MONOTONIC);
    die $requests - @times_us, " requests have no answer\n" if $now > $given_up;
    while ($next < $requests && $started + $next * $every_s <= $now) {
        send_one($next % CONNECTIONS, $texts[$next % @texts], $started + $next * $every_s);
        $next++;
    }
    my $wait = $next < $requests ? $started + $next * $every_s - clock_gettime(CLOCK_MONOTONIC) : 1;
    my $found = select(my $readable = $all, undef, undef, $wait > 0 ? $wait : 0);
    next if $found <= 0;
    for my $fd (keys %number_of) {
        read_answers($number_of{$fd}) if vec($readable, $fd, 1);
    }
}
my $seconds = clock_gettime(CLOCK_MONOTONIC) - $started;
my @sorted = sort { $a <=> $b } @times_us;
print encode_json({
    perSecond => $requests / $seconds,
    p50Us     => $sorted[int(0.5 * $#sorted)],
    p99Us     => $sorted[int(0.99 * $#sorted)],
    statuses  => \%statuses,
});

sub send_one {
    my ($number, $text, $due_s) = @_;
    die "the server is too slow for this rate\n" if @{ $due[$number] } >= WAITING_MAX;
    my $written = syswrite($sockets[$number], $text);
    die "the server is too slow for this rate\n" if !defined $written || $written < length $text;
    push @{ $due[$number] }, $due_s;
    return;
}

# Answers come in the order of the requests.
sub read_answers {
    my ($number) = @_;
    my $read = sysread($sockets[$number], $rest[$number], READ_BYTES, length $rest[$number]);
    die "the server closed a connection\n" if defined $read && $read == 0;
    return if !defined $read;
    my $at = 0;
    while ((my $head_end = index($rest[$number], "\r\n\r\n", $at)) >= 0) {
        my $head = substr($rest[$number], $at, $head_end - $at);
        my $length = $head =~ /content-length: (\d+)/i ? $1 : 0;
        my $end = $head_end + 4 + $length;
        last if length $rest[$number] < $end;
        $statuses{ substr($head, 9, 3) }++;
        push @times_us, 1e6 * (clock_gettime(CLOCK_MONOTONIC) - shift @{ $due[$number] });
        $at = $end;
    }
    $rest[$number] = substr($rest[$number], $at);
    return;
}
