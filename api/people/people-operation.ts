import type { Definition, Operation, RequestContext } from "../operation/operation.ts";
import type { MemberContext, PersonContext, VisitorContext } from "./people-context.ts";
import { PeopleRequest } from "./people-request.ts";

/*
 * Operations for people. The server lets only those callers through that `access.callers` names (http/caller-refusal.ts), so each kind
 * finds in its context what it needs.
 */

/** For anyone. */
export function visitorOperation<
  Path = undefined,
  Query = undefined,
  Body = undefined,
  Resource = undefined,
>(definition: Definition<Path, Query, Body, Resource, VisitorContext>): Operation {
  return inContext(definition, asVisitor);
}

/** For somebody with a session. */
export function personOperation<
  Path = undefined,
  Query = undefined,
  Body = undefined,
  Resource = undefined,
>(definition: Definition<Path, Query, Body, Resource, PersonContext>): Operation {
  return inContext(definition, asPerson);
}

/** For somebody with a session and a membership. */
export function memberOperation<
  Path = undefined,
  Query = undefined,
  Body = undefined,
  Resource = undefined,
>(definition: Definition<Path, Query, Body, Resource, MemberContext>): Operation {
  return inContext(definition, asMember);
}

/** An operation that converts its context first. It has the inputs of the definition, which a list of operations cannot type. */
function inContext(definition: object, contextOf: (context: RequestContext) => object): Operation {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as in `operation`: the caller of `run` has applied exactly these schemas
  const { findResource, findFaults, run, ...rest } = definition as Operation;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the definition takes exactly the context that `contextOf` makes
  const made = (context: RequestContext): RequestContext => contextOf(context) as RequestContext;
  return {
    ...rest,
    ...(findResource && {
      findResource: async (context, path) => await findResource(made(context), path),
    }),
    ...(findFaults && {
      findFaults: async (context, raw) => await findFaults(made(context), raw),
    }),
    run: async (context, input) => await run(made(context), input),
  };
}

function asVisitor({
  principal: _principal,
  workspace: _workspace,
  people,
  ...context
}: RequestContext): VisitorContext {
  if (!(people instanceof PeopleRequest))
    throw new Error("an operation for people was reached without them");
  return { ...context, people };
}

function asPerson(context: RequestContext): PersonContext {
  const visitor = asVisitor(context);
  const { signedIn } = visitor.people;
  if (signedIn === undefined) throw new Error("an operation was reached without a session");
  return { ...visitor, signedIn };
}

function asMember(context: RequestContext): MemberContext {
  const { principal, workspace } = context;
  if (principal === undefined || workspace === undefined)
    throw new Error("an operation was reached without a membership");
  return { ...asPerson(context), principal, workspace };
}
