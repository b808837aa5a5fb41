import { clicksStreams, type NatsSpace } from "./lane-groups.ts";
import { inboxPrefix } from "./roles.ts";
import { type Subjects, subjectsOf } from "./subjects.ts";

export type Permissions = {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
  /** Whether it answers requests. A user may then publish to the reply subject of a request, which no list could name. */
  readonly answers: boolean;
};

/** What each user needs and nothing else, for the subjects under a prefix and the streams of all lane groups. */
export function permissionsOf(space: NatsSpace): Readonly<Record<string, Permissions>> {
  const subjects = subjectsOf(space.prefix);
  const streams = clicksStreams(space);
  return {
    ingress: ingressMay(subjects, streams),
    processors: processorsMay(subjects, streams),
    api: apiMay(subjects, streams),
  };
}

function ingressMay(subjects: Subjects, streams: readonly string[]): Permissions {
  return {
    publish: [
      subjects.allClicks,
      subjects.allClicksTaken,
      subjects.clickNoticesRequest,
      subjects.postback,
      subjects.clickLookup,
      subjects.htmlPostbacks,
      subjects.inboundCalls,
      subjects.twinQuestion,
      ...jetstreamInfo(streams),
    ],
    subscribe: [
      subjects.watermark,
      subjects.allClickPositionRequests,
      subjects.clickTotals,
      subjects.allClicksTaken,
      subjects.capsReached,
      subjects.couponClickTaker,
      subjects.allCouponClicks,
      subjects.processStatus,
      `${inboxPrefix("ingress")}.>`,
    ],
    answers: true,
  };
}

function processorsMay(subjects: Subjects, streams: readonly string[]): Permissions {
  return {
    publish: [
      subjects.watermark,
      subjects.allClickPositionRequests,
      subjects.allClickQueries,
      subjects.clickTotals,
      subjects.allClicksTaken,
      subjects.capsReached,
      subjects.couponClickTaker,
      subjects.allCouponClicks,
      subjects.twinQuestion,
      ...jetstreamInfo(streams),
      // A stream that JetStream has lost is made again.
      ...streams.flatMap((stream) => [
        `$JS.API.STREAM.CREATE.${stream}`,
        `$JS.API.STREAM.UPDATE.${stream}`,
        ...["CREATE", "DURABLE.CREATE", "INFO", "DELETE", "MSG.NEXT"].map(
          (call) => `$JS.API.CONSUMER.${call}.${stream}.>`,
        ),
        `$JS.API.CONSUMER.LIST.${stream}`,
        `$JS.API.STREAM.MSG.GET.${stream}`,
        `$JS.ACK.${stream}.>`,
      ]),
    ],
    subscribe: [
      subjects.allClickQueries,
      subjects.clickNoticesRequest,
      subjects.capsReached,
      subjects.postback,
      subjects.conversionCommand,
      subjects.clickLookup,
      subjects.inboundCalls,
      subjects.htmlPostbacks,
      subjects.twinQuestion,
      subjects.processStatus,
      `${inboxPrefix("processors")}.>`,
    ],
    answers: true,
  };
}

function apiMay(subjects: Subjects, streams: readonly string[]): Permissions {
  return {
    publish: [
      subjects.allClickQueries,
      subjects.conversionCommand,
      // Reports with `test=1`, which record nothing.
      subjects.postback,
      ...jetstreamInfo(streams),
      // The mark of Postgres lies in the metadata of the streams, and an api that runs alone writes it.
      ...streams.map((stream) => `$JS.API.STREAM.UPDATE.${stream}`),
    ],
    subscribe: [subjects.processStatus, subjects.clickTotals, `${inboxPrefix("api")}.>`],
    answers: true,
  };
}

function jetstreamInfo(streams: readonly string[]): string[] {
  return ["$JS.API.INFO", ...streams.map((stream) => `$JS.API.STREAM.INFO.${stream}`)];
}
