import type { ReactElement } from "react";
import { Link } from "wouter";
import { useMembership } from "../member/membership.ts";

export function NotThere(): ReactElement {
  const { base } = useMembership();
  return (
    <section className="panel stack">
      <h1>Page not found, or you don't have access</h1>
      <p>No screen of yours has this address.</p>
      <div className="row">
        <Link className="button" href={`${base}/`}>
          Go to the dashboard
        </Link>
      </div>
    </section>
  );
}
