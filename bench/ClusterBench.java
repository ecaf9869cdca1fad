// SPDX-License-Identifier: MIT
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.filter.FirstKeyOnlyFilter;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * HBase's own client, doing what a mount is asked for. A line "WORK THREADS FIRST COUNT" does WORK for that many rows, shared
 * by the threads, and answers with the seconds it took:
 *
 *   get     one row after the other       put    a bare Put after the other
 *   write   what a mount sends for a file that is overwritten: a raw look at the column, then a checked Put
 *   names   a scan of the rows' keys      scan   a scan of everything
 *
 * usage: ClusterBench HOST:PORT TABLE
 */
public class ClusterBench {
  static final byte[] F = Bytes.toBytes("f"), Q = Bytes.toBytes("q"), VALUE = new byte[100];

  interface Work {
    void act(Table table, int row) throws Exception;
  }

  public static void main(String[] args) throws Exception {
    Configuration conf = HBaseConfiguration.create();
    conf.set("hbase.client.registry.impl", "org.apache.hadoop.hbase.client.RpcConnectionRegistry");
    conf.set("hbase.client.bootstrap.servers", args[0]);
    try (Connection connection = ConnectionFactory.createConnection(conf);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in))) {
      System.out.println("ready");
      for (String line; (line = in.readLine()) != null;) {
        String[] words = line.split(" ");
        long begin = System.nanoTime();
        run(connection, TableName.valueOf(args[1]), words[0], Integer.parseInt(words[1]), Integer.parseInt(words[2]),
            Integer.parseInt(words[3]));
        System.out.println((System.nanoTime() - begin) / 1e9);
      }
    }
  }

  static void run(Connection connection, TableName name, String work, int threads, int first, int count) throws Exception {
    if (work.equals("names") || work.equals("scan")) {
      Scan scan = new Scan();
      if (work.equals("names")) scan.setFilter(new FirstKeyOnlyFilter());
      int seen = 0;
      try (Table table = connection.getTable(name); ResultScanner scanner = table.getScanner(scan)) {
        for (Result row : scanner) seen++;
      }
      if (seen < count) throw new IllegalStateException(seen + " rows");
      return;
    }
    List<Thread> all = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      int from = first + t * count / threads, to = first + (t + 1) * count / threads;
      all.add(new Thread(() -> {
        try (Table table = connection.getTable(name)) {
          for (int row = from; row < to; row++) act(table, work, row);
        } catch (Exception e) {
          e.printStackTrace();
          System.exit(1);
        }
      }));
    }
    for (Thread thread : all) thread.start();
    for (Thread thread : all) thread.join();
  }

  static void act(Table table, String work, int number) throws Exception {
    byte[] row = Bytes.toBytes(String.format("r%05d", number));
    Put put = new Put(row).addColumn(F, Q, System.currentTimeMillis(), VALUE);
    switch (work) {
      case "get":
        if (table.get(new Get(row).addColumn(F, Q)).isEmpty()) throw new IllegalStateException("no row " + number);
        return;
      case "put":
        table.put(put);
        return;
      case "write":
        Scan raw = new Scan().withStartRow(row).withStopRow(row, true).setRaw(true).readVersions(2).addFamily(F).setLimit(1);
        try (ResultScanner scanner = table.getScanner(raw)) {
          scanner.next();
        }
        table.checkAndMutate(CheckAndMutate.newBuilder(row).ifNotExists(F, Bytes.toBytes("none")).build(put));
        return;
      default:
        throw new IllegalArgumentException(work);
    }
  }
}
