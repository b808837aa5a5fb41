import { inboxPrefix } from "./roles.ts";
import { clicksStream } from "./streams.ts";
import { type Subjects, subjectsOf } from "./subjects.ts";

export type Permissions = {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
  /** Whether it answers requests. A user may then publish to the reply subject of a request, which no list could name. */
  readonly answers: boolean;
};

/** What each user needs and nothing else, for the subjects under a prefix. */
export function permissionsOf(prefix: string): Readonly<Record<string, Permissions>> {
  const subjects = subjectsOf(prefix);
  const stream = clicksStream({ prefix });
  return {
    ingress: ingressMay(subjects, stream),
    processors: processorsMay(subjects, stream),
    api: apiMay(subjects, stream),
  };
}

function ingressMay(subjects: Subjects, stream: string): Permissions {
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
      ...jetstreamInfo(stream),
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

function processorsMay(subjects: Subjects, stream: string): Permissions {
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
      ...jetstreamInfo(stream),
      // A stream that JetStream has lost is made again.
      `$JS.API.STREAM.CREATE.${stream}`,
      `$JS.API.STREAM.UPDATE.${stream}`,
      ...["CREATE", "DURABLE.CREATE", "INFO", "DELETE", "MSG.NEXT"].map(
        (call) => `$JS.API.CONSUMER.${call}.${stream}.>`,
      ),
      `$JS.API.CONSUMER.LIST.${stream}`,
      `$JS.API.STREAM.MSG.GET.${stream}`,
      `$JS.ACK.${stream}.>`,
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

function apiMay(subjects: Subjects, stream: string): Permissions {
  return {
    publish: [
      subjects.allClickQueries,
      subjects.conversionCommand,
      // Reports with `test=1`, which record nothing.
      subjects.postback,
      ...jetstreamInfo(stream),
      // The mark of Postgres lies in the metadata of the stream, and an api that runs alone writes it.
      `$JS.API.STREAM.UPDATE.${stream}`,
    ],
    subscribe: [subjects.processStatus, subjects.clickTotals, `${inboxPrefix("api")}.>`],
    answers: true,
  };
}

function jetstreamInfo(stream: string): string[] {
  return ["$JS.API.INFO", `$JS.API.STREAM.INFO.${stream}`];
}
